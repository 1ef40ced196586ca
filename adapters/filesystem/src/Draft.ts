/**
 * Bytes on their way in: a file under a name that means nothing, synced, and moved to its place only when it is whole.
 * Whatever goes wrong, or a fiber that is interrupted, takes the file away again.
 */
import { createHash, type Hash } from "node:crypto"
import { type FileHandle, open, rm } from "node:fs/promises"
import { dispose, type StoreUnavailable, type Written } from "@weft/core"
import { Effect, Exit, Stream } from "effect"
import { attempt } from "./Attempt.ts"
import { ownerOnly } from "./Durable.ts"

export interface Draft extends Written {
  readonly path: string
}

export interface DraftOptions {
  /** Whether the SHA-256 of the bytes follows them in the file. */
  readonly trailer: boolean
}

/** Bytes that are gathered before they are written: streams of crumbs must not cost a system call for each. */
const gatheredBytes = 64 * 1024

/** Writes the stream to `path`, then gives the draft to `commit`, which moves it and is not interrupted. */
export const throughDraft = <E, A, E2>(
  operation: string,
  path: string,
  bytes: Stream.Stream<Uint8Array, E>,
  { trailer }: DraftOptions,
  commit: (draft: Draft) => Effect.Effect<A, E2>
): Effect.Effect<A, E | E2 | StoreUnavailable> =>
  Effect.acquireUseRelease(
    attempt(operation, () => openDraft(path)),
    (draft) =>
      Stream.runForEachArray(bytes, (chunks) => attempt(operation, () => draft.take(chunks))).pipe(
        Effect.andThen(attempt(operation, () => draft.finish(trailer))),
        Effect.flatMap((written) => Effect.uninterruptible(commit({ path, ...written })))
      ),
    (draft, exit) =>
      // Closing waits for a write that is under way.
      Effect.promise(() => draft.close(Exit.isSuccess(exit)).catch(() => undefined))
  )

interface OpenDraft {
  readonly take: (chunks: ReadonlyArray<Uint8Array>) => Promise<void>
  readonly finish: (trailer: boolean) => Promise<Written>
  readonly close: (keep: boolean) => Promise<void>
}

/** As a draft, of bytes that are all there. */
export const writeDraft = async (path: string, bytes: Uint8Array): Promise<void> => {
  const handle = await open(path, "wx", ownerOnly.file)
  try {
    await writeAll(handle, bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const openDraft = async (path: string): Promise<OpenDraft> => {
  const handle = await open(path, "wx", ownerOnly.file)
  const hash: Hash = createHash("sha256")
  let gathered: Buffer | null = null
  let used = 0
  let size = 0

  const flush = async (): Promise<void> => {
    if (gathered === null || used === 0) return
    const full = gathered.subarray(0, used)
    used = 0
    await writeAll(handle, full)
  }
  const takeOne = async (chunk: Uint8Array): Promise<void> => {
    hash.update(chunk)
    size += chunk.length
    const isLarge = chunk.length >= gatheredBytes / 2
    if (isLarge || chunk.length > gatheredBytes - used) await flush()
    if (isLarge) return writeAll(handle, chunk)
    gathered ??= Buffer.allocUnsafeSlow(gatheredBytes)
    gathered.set(chunk, used)
    used += chunk.length
  }
  return {
    take: async (chunks) => {
      for (const chunk of chunks) {
        await takeOne(chunk)
        dispose(chunk)
      }
    },
    finish: async (trailer) => {
      await flush()
      const digest = hash.digest()
      if (trailer) await writeAll(handle, digest)
      await handle.sync()
      await handle.close()
      return { size, digest: digest.toString("hex") }
    },
    close: async (keep) => {
      await handle.close()
      if (!keep) await rm(path, { force: true })
    }
  }
}

const writeAll = async (handle: FileHandle, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
}
