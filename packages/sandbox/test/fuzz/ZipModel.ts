/** Reads simple zips according to the format, without a library. */
import { crc32, inflateRawSync } from "node:zlib"

export interface ZipModelFile {
  readonly name: string
  readonly bytes: Buffer
  readonly isWhole: boolean
}

/** Returns the files in order; null for unsupported zips: several disks, 64-bit sizes, a broken directory, old names. */
export const readZip = (zip: Buffer): ReadonlyArray<ZipModelFile> | null => {
  const end = endOf(zip)
  if (end === -1 || zip.readUInt16LE(end + 4) !== 0) return null
  const count = zip.readUInt16LE(end + 10)
  let at = zip.readUInt32LE(end + 16)
  if (count === 0xffff || at === 0xffffffff) return null
  const files: Array<ZipModelFile> = []
  for (let n = 0; n < count; n++) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== 0x02014b50) return null
    const nameBytes = zip.readUInt16LE(at + 28)
    const name = zip.toString("utf8", at + 46, at + 46 + nameBytes)
    // Without the flag for UTF-8, a name is in code page 437.
    const isUnderstood = (zip.readUInt16LE(at + 8) & 0x800) !== 0 || /^[\x20-\x7e]*$/.test(name)
    const bytes = contentOf(zip, at)
    if (bytes === null || !isUnderstood) return null
    files.push({ name, bytes, isWhole: crc32(bytes) === zip.readUInt32LE(at + 16) })
    at += 46 + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return files
}

/** Finds the last end record whose comment extends to the end of the zip. */
const endOf = (zip: Buffer): number => {
  for (let at = zip.length - 22; at >= 0; at--) {
    if (zip.readUInt32LE(at) === 0x06054b50 && at + 22 + zip.readUInt16LE(at + 20) === zip.length) return at
  }
  return -1
}

const contentOf = (zip: Buffer, entry: number): Buffer | null => {
  const local = zip.readUInt32LE(entry + 42)
  if (local + 30 > zip.length || zip.readUInt32LE(local) !== 0x04034b50) return null
  const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
  const packed = zip.subarray(from, from + zip.readUInt32LE(entry + 20))
  if (zip.readUInt16LE(entry + 10) === 0) return packed
  try {
    return inflateRawSync(packed, { maxOutputLength: 1 << 22 })
  } catch {
    return null
  }
}
