/** Reads and writes DER, the encoding of keys. */
import { Buffer } from "node:buffer"

export interface Element {
  readonly tag: number
  readonly content: Buffer
  /** The element with its header. */
  readonly whole: Buffer
}

export const tags = { integer: 2, bits: 3, octets: 4, null: 5, oid: 6, sequence: 0x30 } as const

const invalid = (): Error => Object.assign(new Error("The key is not valid DER"), { code: "ERR_OSSL_UNSUPPORTED" })

/** Returns the first element of the bytes. */
export const readElement = (bytes: Buffer): Element => {
  const [tag, first] = bytes
  if (tag === undefined || first === undefined) throw invalid()
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (lengthBytes > 4) throw invalid()
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes)
  const start = 2 + lengthBytes
  if (start + length > bytes.length) throw invalid()
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) }
}

/** Returns the elements in the content of a sequence. */
export const readAll = (content: Buffer): ReadonlyArray<Element> => {
  const elements: Array<Element> = []
  let rest = content
  while (rest.length > 0) {
    const element = readElement(rest)
    elements.push(element)
    rest = rest.subarray(element.whole.length)
  }
  return elements
}

/** Returns the elements of the sequence that the bytes hold. */
export const readSequence = (bytes: Buffer): ReadonlyArray<Element> => {
  const { tag, content } = readElement(bytes)
  if (tag !== tags.sequence) throw invalid()
  return readAll(content)
}

/** Returns the element at an index; throws if the sequence is shorter. */
export const at = (elements: ReadonlyArray<Element>, index: number): Element => {
  const element = elements[index]
  if (element === undefined) throw invalid()
  return element
}

export const toInteger = ({ content }: Element): bigint => BigInt(`0x0${content.toString("hex")}`)

export const write = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(parts)
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const hex = content.length.toString(16)
  const length = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex")
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content])
}

/** Returns the bytes of an integer, without a sign, padded with zeros on the left. */
export const fromInteger = (value: bigint, length = 0): Buffer => {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex")
  return bytes.length >= length ? bytes : Buffer.concat([Buffer.alloc(length - bytes.length), bytes])
}

export const writeInteger = (value: bigint): Buffer => {
  const bytes = fromInteger(value)
  return write(tags.integer, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes)
}

export const writeOid = (hex: string): Buffer => write(tags.oid, Buffer.from(hex, "hex"))
