/** Reads the zip of a build. It is hostile until every entry is validated. */
import { crc32 } from "node:zlib"
import { BundleRejected, type Limits } from "@weft/core/adapter"
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl"

export const entryFile = "index.js"
const mapFile = "index.js.map"
/** Maximum size of a script, in bytes. */
const scriptBytesMax = 16 * 1024 * 1024
const mapBytesMax = 32 * 1024 * 1024

const fileTypeMask = 0o170000
const symbolicLink = 0o120000
const controlCharacter = /\p{Cc}/u

/** Validates all entries; unpacks each to count its bytes. Rejects with `BundleRejected`. */
export const checkArchive = async (zip: Uint8Array, limits: Limits, signal: AbortSignal): Promise<void> => {
  await walk(zip, limits, signal, new Map())
}

/** Returns `index.js` and its source map, if there is one. Validates the same as `checkArchive`. */
export const readBundle = async (
  zip: Uint8Array,
  limits: Limits,
  signal: AbortSignal
): Promise<{ readonly script: string; readonly sourceMap: string | undefined }> => {
  const script: Collected = { chunks: [], bytesMax: scriptBytesMax }
  const map: Collected = { chunks: [], bytesMax: mapBytesMax }
  const files = new Map([
    [entryFile, script],
    [mapFile, map]
  ])
  const names = await walk(zip, limits, signal, files)
  return {
    script: decodeText(entryFile, script.chunks),
    sourceMap: names.has(mapFile) ? decodeText(mapFile, map.chunks) : undefined
  }
}

/** Contents of an entry. Collecting ends at `bytesMax`: a few kilobytes may unpack to hundreds of megabytes. */
interface Collected {
  readonly chunks: Array<Buffer>
  readonly bytesMax: number
}

/** Reads every entry and returns the names of all files. Collects the contents of the entries in `keep`. */
const walk = async (
  zip: Uint8Array,
  limits: Limits,
  signal: AbortSignal,
  keep: ReadonlyMap<string, Collected>
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
      validateEntry(entry, names)
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

const validateEntry = (entry: Entry, names: Set<string>): void => {
  const name = entry.fileName
  const shown = JSON.stringify(name.slice(0, 200))
  if (names.has(name)) throw rejected(`the zip has two entries ${shown}`)
  names.add(name)
  // The zip library has already rejected "..", absolute names, drive letters and backslashes.
  if (name === "" || controlCharacter.test(name) || name.split("/").includes(".")) {
    throw rejected(`the name of entry ${shown} is not allowed`)
  }
  if (((entry.externalFileAttributes >>> 16) & fileTypeMask) === symbolicLink) {
    throw rejected(`the entry ${shown} is a symbolic link`)
  }
  if (entry.isEncrypted()) throw rejected(`the entry ${shown} is encrypted`)
  if (!entry.canDecodeFileData()) throw rejected(`the entry ${shown} is compressed in an unknown way`)
}

/** Returns the real size of an entry in bytes. Rejects a damaged one: otherwise only its later reader would notice. */
const unpack = async (
  archive: ZipFile,
  entry: Entry,
  bytesMax: number,
  keep: Collected | undefined
): Promise<number> => {
  if (entry.fileName.endsWith("/")) return 0
  const stream = await archive.openReadStreamPromise(entry)
  let bytes = 0
  let checksum = 0
  // Leaving the loop early, also with an error, destroys the stream.
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > bytesMax)
      throw rejected(`the files of the zip are too large in total, at ${JSON.stringify(entry.fileName)}`)
    checksum = crc32(chunk, checksum)
    if (keep === undefined) continue
    if (bytes > keep.bytesMax) throw rejected(`${entry.fileName} is over ${keep.bytesMax} bytes`)
    keep.chunks.push(chunk)
  }
  if (checksum !== entry.crc32) throw rejected(`the entry ${JSON.stringify(entry.fileName)} is damaged`)
  return bytes
}

const decodeText = (name: string, chunks: ReadonlyArray<Buffer>): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw rejected(`${name} is not UTF-8`)
  }
}

const rejected = (reason: string): BundleRejected => new BundleRejected({ reason })
