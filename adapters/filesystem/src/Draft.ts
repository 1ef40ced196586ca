/**
 * A file under a temporary name for incoming bytes. It is synced, and moved to its place only when it is complete. After a
 * failure or an interruption it is removed.
 */
import { createHash, type Hash } from "node:crypto"
import { type FileHandle, open, rm } from "node:fs/promises"
import type { StoreUnavailable } from "@weft/core"
import { dispose, type WrittenBlob } from "@weft/core/adapter"
import { Effect, Exit, Stream } from "effect"
import { attempt } from "./Attempt.ts"
import { ownerOnly } from "./Durable.ts"

export interface Draft extends WrittenBlob {
  readonly path: string
}

export interface DraftOptions {
  /** True to append the SHA-256 of the bytes to the file. */
  readonly trailer: boolean
}

/** Bytes that are collected before a write, so that a stream of tiny chunks costs few system calls. */
const gathered = { bytes: 64 * 1024, pieces: 64 }

/** Writes the stream to `path`, then passes the draft to `commit`, which moves it and is not interrupted. */
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
      // Closing waits for a write in progress.
      Effect.promise(() => draft.close(Exit.isSuccess(exit)).catch(() => undefined))
  )

interface OpenDraft {
  readonly take: (chunks: ReadonlyArray<Uint8Array>) => Promise<void>
  readonly finish: (trailer: boolean) => Promise<WrittenBlob>
  readonly close: (keep: boolean) => Promise<void>
}

/** Writes a draft of bytes that are all in memory. */
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
      // Hashes while the system writes.
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
      try {
        await handle.close()
      } finally {
        if (!keep) await rm(path, { force: true })
      }
    }
  }
}

/** Writes all bytes. One system call is mostly enough, but it may write less than requested. */
const writeAll = async (handle: FileHandle, pieces: ReadonlyArray<Uint8Array>): Promise<void> => {
  for (let rest = pieces; rest.length > 0; ) {
    const { bytesWritten } = await handle.writev(rest)
    rest = after(rest, bytesWritten)
  }
}

/** Returns the buffers without the first `count` bytes. */
const after = (pieces: ReadonlyArray<Uint8Array>, count: number): ReadonlyArray<Uint8Array> => {
  let skipped = 0
  for (const [index, piece] of pieces.entries()) {
    if (skipped + piece.length > count) return [piece.subarray(count - skipped), ...pieces.slice(index + 1)]
    skipped += piece.length
  }
  return []
}
