/**
 * The tables of the Encoding standard, in memory that all isolates of this process share.
 *
 * The ICU of Node knows most of them, so its `TextDecoder` fills them when the first isolate needs one. Where ICU
 * differs from the standard, the tables are corrected.
 */
import { addHongKong } from "./HongKong.ts"

interface Table {
  /** Number of pointers. */
  readonly size: number
  readonly fill: (table: Uint32Array) => void
}

/** Returns the bytes of a pointer. */
type ToBytes = (pointer: number) => ReadonlyArray<number>

/** Returns the second byte of a pair: the columns leave out `gap` bytes from 0x7F. */
const toTrail = (column: number, gap: number): number => column + (column < 0x3f ? 0x40 : 0x40 + gap)

const lineFeed = 0x0a

/** Decodes the bytes of all pointers in one call: a line each. Lines that are not one code point are invalid. */
const decodeLines = (encoding: string, size: number, toBytes: ToBytes): ReadonlyArray<number> => {
  const bytes = Array.from({ length: size }, (_, pointer) => [...toBytes(pointer), lineFeed]).flat()
  const lines = new TextDecoder(encoding).decode(Uint8Array.from(bytes)).split("\n")
  return lines.slice(0, size).map((line) => {
    const codePoint = line.codePointAt(0) ?? 0
    return line.length === (codePoint > 0xffff ? 2 : 1) && codePoint !== 0xfffd ? codePoint : 0
  })
}

const decoded = (encoding: string, toBytes: ToBytes) => (table: Uint32Array) =>
  table.set(decodeLines(encoding, table.length, toBytes))

const isPrivate = (codePoint: number): boolean => codePoint >= 0xe000 && codePoint <= 0xf8ff

/** Removes code points for private use, which the standard leaves out. */
const removePrivate = (table: Uint32Array): void => {
  for (const [pointer, codePoint] of table.entries()) if (isPrivate(codePoint)) table[pointer] = 0
}

const fillBig5 = (table: Uint32Array): void => {
  decoded("big5", (pointer) => [Math.floor(pointer / 157) + 0x81, toTrail(pointer % 157, 0x22)])(table)
  removePrivate(table)
  addHongKong(table)
}

/** Pointers of EUC-KR before KS X 1001: rows above 0x20, or columns below 0x60. */
const isExtension = (pointer: number): boolean => pointer < 0x20 * 190 || pointer % 190 < 0x60

/** True for the columns of letters, or of bytes from 0x81. */
const isHangulColumn = (column: number): boolean => column < 26 || (column >= 32 && column < 58) || column >= 64

/** Pointer of the euro sign, before the registered sign: ICU lacks both. */
const euroSign = 6435

/** Fills EUC-KR. Its extension has the syllables that KS X 1001 lacks, in their order. */
const fillEucKr = (table: Uint32Array): void => {
  decoded("euc-kr", (pointer) => [Math.floor(pointer / 190) + 0x81, (pointer % 190) + 0x41])(table)
  removePrivate(table)
  table.set([0x20ac, 0xae], euroSign)
  const known = new Set(table)
  const missing = Array.from({ length: 0xd7a4 - 0xac00 }, (_, index) => 0xac00 + index).filter(
    (each) => !known.has(each)
  )
  let used = 0
  for (let pointer = 0; pointer < table.length && used < missing.length; pointer++) {
    if (isExtension(pointer) && isHangulColumn(pointer % 190)) table[pointer] = missing[used++] ?? 0
  }
}

const fillKanji = (table: Uint32Array): void => {
  decoded("shift_jis", (pointer) => [
    Math.floor(pointer / 188) + (pointer < 0x1f * 188 ? 0x81 : 0xc1),
    toTrail(pointer % 188, 1)
  ])(table)
  removePrivate(table)
}

/** Pointers of four bytes that stand for the Basic Multilingual Plane. */
const rangePointers = 39_420

/** Returns the ranges of pointers of four bytes, as pairs of the first pointer and its code point. */
const gb18030Ranges = (): ReadonlyArray<number> => {
  const codePoints = decodeLines("gb18030", rangePointers, (pointer) => [
    Math.floor(pointer / 12_600) + 0x81,
    (Math.floor(pointer / 1260) % 10) + 0x30,
    (Math.floor(pointer / 10) % 126) + 0x81,
    (pointer % 10) + 0x30
  ])
  // All pointers have code points, also U+FFFD itself.
  const known = codePoints.map((codePoint) => (codePoint === 0 ? 0xfffd : codePoint))
  return known.flatMap((codePoint, pointer) =>
    codePoint - (known[pointer - 1] ?? -1) === 1 ? [] : [pointer, codePoint]
  )
}

/** Encodings of one byte, by name. */
const singleByte =
  "ibm866 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 " +
  "iso-8859-6 iso-8859-7 iso-8859-8 koi8-r koi8-u macintosh windows-1250 windows-1251 windows-1253 windows-1254 " +
  "windows-1255 windows-1256 windows-1257 windows-1258 windows-874 x-mac-cyrillic"

/** The tables in their order. Guests use the same order. */
const makeTables = (): ReadonlyArray<Table> => {
  const ranges = gb18030Ranges()
  return [
    { size: 19_782, fill: fillBig5 },
    { size: 23_750, fill: fillEucKr },
    {
      size: 23_940,
      fill: decoded("gb18030", (pointer) => [Math.floor(pointer / 190) + 0x81, toTrail(pointer % 190, 1)])
    },
    { size: 11_104, fill: fillKanji },
    // ICU adds symbols after the last pointer of the standard.
    {
      size: 7211,
      fill: decoded("euc-jp", (pointer) => [0x8f, Math.floor(pointer / 94) + 0xa1, (pointer % 94) + 0xa1])
    },
    { size: ranges.length, fill: (table) => table.set(ranges) },
    ...singleByte.split(" ").map((name) => ({ size: 128, fill: decoded(name, (pointer) => [pointer + 0x80]) }))
  ]
}

let shared: Uint32Array | undefined

/** True if Node has all of ICU: it may be built without. */
const hasAllEncodings = (): boolean => {
  try {
    return new TextDecoder("big5").encoding === "big5"
  } catch {
    return false
  }
}

/**
 * Returns the tables, after the offsets of each and of the end. The first call makes them. Undefined if Node lacks
 * encodings.
 */
export const encodingTables = (): Uint32Array | undefined => {
  if (shared !== undefined || !hasAllEncodings()) return shared
  const tables = makeTables()
  const header = tables.length + 1
  const made = new Uint32Array(
    new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT * tables.reduce((sum, { size }) => sum + size, header))
  )
  let offset = header
  for (const [index, { size, fill }] of tables.entries()) {
    made[index] = offset
    fill(made.subarray(offset, offset + size))
    offset += size
  }
  made[tables.length] = offset
  shared = made
  return made
}
