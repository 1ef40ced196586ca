/** Builds zips field by field, so that tests can create invalid ones. */
import { crc32, deflateRawSync } from "node:zlib"

export interface ZipEntry {
  readonly name: string
  readonly content: string | Uint8Array
  /** Unix mode; a plain file by default. */
  readonly mode?: number
  /** A wrong size for the headers. */
  readonly claimedSize?: number
  /** General purpose flags in addition to the one for UTF-8 names. */
  readonly flags?: number
  /** Compression method in the headers; deflate (8) by default. */
  readonly method?: number
}

const utf8Flag = 0x800

export const zipEntries = (entries: ReadonlyArray<ZipEntry>): Uint8Array => {
  const bodies: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = 0
  for (const entry of entries) {
    const data = Buffer.from(entry.content)
    const name = Buffer.from(entry.name)
    const packed = deflateRawSync(data)
    const size = entry.claimedSize ?? data.length
    const flags = utf8Flag | (entry.flags ?? 0)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    writeShared(local, 6, { flags, method: entry.method ?? 8, data, packed, size, name })
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE(0x031e, 4)
    central.writeUInt16LE(20, 6)
    writeShared(central, 8, { flags, method: entry.method ?? 8, data, packed, size, name })
    central.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38)
    central.writeUInt32LE(offset, 42)
    bodies.push(local, name, packed)
    directory.push(central, name)
    offset += local.length + name.length + packed.length
  }
  const directoryBytes = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(directoryBytes.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, directoryBytes, end])
}

interface Shared {
  readonly flags: number
  readonly method: number
  readonly data: Buffer
  readonly packed: Buffer
  readonly size: number
  readonly name: Buffer
}

/** Writes the fields that both headers of an entry share, in the same order. */
const writeShared = (header: Buffer, at: number, fields: Shared): void => {
  header.writeUInt16LE(fields.flags, at)
  header.writeUInt16LE(fields.method, at + 2)
  header.writeUInt32LE(crc32(fields.data), at + 8)
  header.writeUInt32LE(fields.packed.length, at + 12)
  header.writeUInt32LE(fields.size, at + 16)
  header.writeUInt16LE(fields.name.length, at + 20)
}

/** Returns a bundle with this `index.js` and optional further files. */
export const buildBundle = (script: string, more: Readonly<Record<string, string>> = {}): Uint8Array =>
  zipEntries([
    { name: "index.js", content: script },
    ...Object.entries(more).map(([name, content]) => ({ name, content }))
  ])
