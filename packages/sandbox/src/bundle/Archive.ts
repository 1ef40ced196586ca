/** Reads the zip of a build: hostile until every entry has been looked at. */
import { crc32 } from "node:zlib"
import { BundleRejected, type Limits } from "@weft/core"
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl"

export const entryFile = "index.js"
const mapFile = "index.js.map"
/** A script beyond this is not compiled, in bytes. */
const scriptBytesMax = 16 * 1024 * 1024
const mapBytesMax = 32 * 1024 * 1024

const fileTypeMask = 0o170000
const symbolicLink = 0o120000
const controlCharacter = /\p{Cc}/u

/** Walks all entries, unpacking each to count its bytes. Rejects with `BundleRejected`. */
export const checkArchive = async (zip: Uint8Array, limits: Limits, signal: AbortSignal): Promise<void> => {
  await walk(zip, limits, signal, new Map())
}

/** The texts of `index.js` and, where there is one, of its source map. Checks everything that `checkArchive` does. */
export const readBundle = async (
  zip: Uint8Array,
  limits: Limits,
  signal: AbortSignal
): Promise<{ readonly script: string; readonly sourceMap: string | undefined }> => {
  const files = new Map<string, Array<Buffer>>([
    [entryFile, []],
    [mapFile, []]
  ])
  const names = await walk(zip, limits, signal, files)
  const script = textOf(entryFile, files.get(entryFile) ?? [], scriptBytesMax)
  if (!names.has(mapFile)) return { script, sourceMap: undefined }
  return { script, sourceMap: textOf(mapFile, files.get(mapFile) ?? [], mapBytesMax) }
}

/** Passes over every entry; the contents of those in `keep` are collected there. Returns the names of all files. */
const walk = async (
  zip: Uint8Array,
  limits: Limits,
  signal: AbortSignal,
  keep: ReadonlyMap<string, Array<Buffer>>
): Promise<ReadonlySet<string>> => {
  if (zip.length > limits.archiveBytes) throw rejected(`the zip is over ${limits.archiveBytes} bytes`)
  const names = new Set<string>()
  let unpacked = 0
  try {
    const archive = await fromBufferPromise(Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength), {
      decodeStrings: true,
      strictFileNames: true,
      validateEntrySizes: true
    })
    if (archive.entryCount > limits.archiveEntries) throw rejected(`the zip has over ${limits.archiveEntries} entries`)
    for await (const entry of archive.eachEntry()) {
      signal.throwIfAborted()
      requireFair(entry, names)
      if (names.size > limits.archiveEntries) throw rejected(`the zip has over ${limits.archiveEntries} entries`)
      unpacked += await unpack(archive, entry, limits.unpackedBytes - unpacked, keep.get(entry.fileName))
    }
  } catch (error) {
    if (error instanceof BundleRejected) throw error
    signal.throwIfAborted()
    throw rejected(`not a usable zip: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!names.has(entryFile)) throw rejected(`the zip has no ${entryFile} at its root`)
  return names
}

const requireFair = (entry: Entry, names: Set<string>): void => {
  const name = entry.fileName
  const shown = JSON.stringify(name.slice(0, 200))
  if (names.has(name)) throw rejected(`the zip has two entries ${shown}`)
  names.add(name)
  // The zip library has refused "..", absolute names, drive letters and backslashes by now.
  if (name === "" || controlCharacter.test(name) || name.split("/").includes(".")) {
    throw rejected(`the name of entry ${shown} is not allowed`)
  }
  if (((entry.externalFileAttributes >>> 16) & fileTypeMask) === symbolicLink) {
    throw rejected(`the entry ${shown} is a symbolic link`)
  }
  if (entry.isEncrypted()) throw rejected(`the entry ${shown} is encrypted`)
  if (!entry.canDecodeFileData()) throw rejected(`the entry ${shown} is compressed in an unknown way`)
}

/** How many bytes the entry really has. What is damaged would be found by whoever reads it, when it is too late. */
const unpack = async (
  archive: ZipFile,
  entry: Entry,
  bytesMax: number,
  keep: Array<Buffer> | undefined
): Promise<number> => {
  if (entry.fileName.endsWith("/")) return 0
  const stream = await archive.openReadStreamPromise(entry)
  let bytes = 0
  let checksum = 0
  // Ending the loop early, by throwing too, destroys the stream.
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > bytesMax)
      throw rejected(`the files of the zip are too large in all, at ${JSON.stringify(entry.fileName)}`)
    checksum = crc32(chunk, checksum)
    keep?.push(chunk)
  }
  if (checksum !== entry.crc32) throw rejected(`the entry ${JSON.stringify(entry.fileName)} is damaged`)
  return bytes
}

const textOf = (name: string, chunks: ReadonlyArray<Buffer>, bytesMax: number): string => {
  const bytes = Buffer.concat(chunks)
  if (bytes.length > bytesMax) throw rejected(`${name} is over ${bytesMax} bytes`)
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw rejected(`${name} is not UTF-8`)
  }
}

const rejected = (reason: string): BundleRejected => new BundleRejected({ reason })
