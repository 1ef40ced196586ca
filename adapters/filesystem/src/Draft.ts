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

/** What is gathered before it is written: streams of crumbs must not cost a system call for each. */
const gathered = { bytes: 64 * 1024, pieces: 64 }

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
    await writeAll(handle, [bytes])
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const openDraft = async (path: string): Promise<OpenDraft> => {
  const handle = await open(path, "wx", ownerOnly.file)
  const hash: Hash = createHash("sha256")
  let pieces: Array<Uint8Array> = []
  let waiting = 0
  let size = 0

  const flush = async (): Promise<void> => {
    const written = pieces
    pieces = []
    waiting = 0
    await writeAll(handle, written)
    for (const piece of written) dispose(piece)
  }
  return {
    take: async (chunks) => {
      for (const chunk of chunks) {
        pieces.push(chunk)
        waiting += chunk.length
        size += chunk.length
      }
      const isEnough = waiting >= gathered.bytes || pieces.length >= gathered.pieces
      const flushed = isEnough ? flush() : undefined
      // While the system writes them.
      for (const chunk of chunks) hash.update(chunk)
      await flushed
    },
    finish: async (trailer) => {
      const digest = hash.digest()
      if (trailer) pieces.push(digest)
      await flush()
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

/** In one call of the system, mostly: it may write less than it was given. */
const writeAll = async (handle: FileHandle, pieces: ReadonlyArray<Uint8Array>): Promise<void> => {
  for (let rest = pieces; rest.length > 0; ) {
    const { bytesWritten } = await handle.writev(rest)
    rest = after(rest, bytesWritten)
  }
}

/** What follows so many bytes. */
const after = (pieces: ReadonlyArray<Uint8Array>, count: number): ReadonlyArray<Uint8Array> => {
  let skipped = 0
  for (const [index, piece] of pieces.entries()) {
    if (skipped + piece.length > count) return [piece.subarray(count - skipped), ...pieces.slice(index + 1)]
    skipped += piece.length
  }
  return []
}
