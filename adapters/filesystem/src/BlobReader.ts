/** Reads the bytes of a blob in chunks. */
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import type { ByteRange } from "@weft/core/adapter"
import { Bytes } from "effect"
import { isPlain, linkedFolder } from "./Content.ts"
import { isAbsence, orNull } from "./Durable.ts"
import type { JoinedFolders, ReadFolder } from "./JoinedFolders.ts"
import { readManifest, sizeOf } from "./Manifest.ts"
import { contentPath, type Places, partFile } from "./Places.ts"

export interface BlobReader {
  /** Size of the whole blob in bytes. */
  readonly size: number
  /** The next chunk of the range, never empty; null after the last. */
  readonly next: () => Promise<Uint8Array | null>
  readonly close: () => Promise<void>
}

/** Opens the blob of a key; null if there is no such blob. */
export const openReader = async (
  places: Places,
  joined: JoinedFolders,
  key: string,
  range?: ByteRange
): Promise<BlobReader | null> => {
  // A blob that is replaced between two reads is looked up again: no two blobs share a folder.
  for (let before: string | null = null; ; ) {
    const plain = await openPlain(contentPath(places, key), range)
    if (plain !== null) return plain
    const folder = await linkedFolder(places, key)
    if (folder === null) {
      // The blob is gone, or a plain file has replaced the folder.
      if (await isPlain(places, key)) continue
      return null
    }
    if (folder === before) throw new Error(`${folder} holds no manifest`)
    before = folder
    const reader = await openJoined(joined.enter(folder), range)
    if (reader !== null) return reader
  }
}

/** Chunk size in bytes: large enough to be fast, small enough for many readers. */
const pieceBytes = 256 * 1024

/** Reads the next chunk while the previous one is sent. */
const ahead = ({ size, next, close }: BlobReader): BlobReader => {
  let coming: Promise<Uint8Array | null> | null = null
  return {
    size,
    next: async () => {
      const piece = await (coming ?? next())
      coming = next()
      // The reader of the chunk receives this error.
      coming.catch(() => undefined)
      return piece
    },
    close: async () => {
      await coming?.catch(() => undefined)
      await close()
    }
  }
}

const openPlain = async (file: string, range: ByteRange | undefined): Promise<BlobReader | null> => {
  const handle = await orNull(open(file, constants.O_RDONLY))
  if (handle === null) return null
  const stat = await handle.stat().catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  if (!stat.isFile()) {
    await handle.close()
    return null
  }
  let { start, end } = within(range, stat.size)
  return ahead({
    size: stat.size,
    next: async () => {
      if (start >= end) return null
      const piece = await readPiece(handle, start, end)
      start += piece.length
      return piece
    },
    close: () => handle.close()
  })
}

const openJoined = async (folder: ReadFolder, range: ByteRange | undefined): Promise<BlobReader | null> => {
  const manifest = await folder.at(readManifest).catch((error: unknown) => {
    folder.leave()
    if (isAbsence(error)) return null
    throw error
  })
  if (manifest === null) return null
  const size = sizeOf(manifest)
  const pending = slices(manifest.parts, within(range, size))
  let handle: FileHandle | null = null
  let slice = pending.next()
  return ahead({
    size,
    next: async () => {
      if (slice.done === true) return null
      const { number, end } = slice.value
      handle ??= await folder.at((path) => open(partFile(path, number), constants.O_RDONLY))
      const piece = await readPiece(handle, slice.value.start, end)
      slice.value.start += piece.length
      if (slice.value.start >= end) {
        await handle.close()
        handle = null
        slice = pending.next()
      }
      return piece
    },
    close: async () => {
      await handle?.close()
      folder.leave()
    }
  })
}

interface Slice {
  readonly number: number
  /** Offset in the part; advances with each read. */
  start: number
  readonly end: number
}

/** Returns the parts that overlap the range, each with its share of it. */
function* slices(parts: ReadonlyArray<readonly [number, number]>, range: ByteRange): Generator<Slice, undefined> {
  let at = 0
  for (const [number, size] of parts) {
    const start = Math.max(range.start - at, 0)
    const end = Math.min(range.end - at, size)
    if (start < end) yield { number, start, end }
    at += size
  }
}

const within = (range: ByteRange | undefined, size: number): ByteRange => ({
  start: range?.start ?? 0,
  end: Math.min(range?.end ?? size, size)
})

const readPiece = async (handle: FileHandle, start: number, end: number): Promise<Uint8Array> => {
  const { bytesRead, buffer } = await handle.read({
    buffer: new Uint8Array(Math.min(end - start, pieceBytes)),
    position: start
  })
  if (bytesRead === 0) throw new Error("The file is shorter than it was")
  return bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead)
}

/** Returns the remaining bytes in a buffer of their own. */
export const readAll = async (reader: BlobReader): Promise<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  for (let piece = await reader.next(); piece !== null; piece = await reader.next()) pieces.push(piece)
  const [only] = pieces
  return pieces.length === 1 && only !== undefined ? only : Bytes.concat(pieces)
}
