/** Parses and formats IPv4 and IPv6 addresses in URLs. */

interface Ipv4Number {
  readonly value: number
}

const parseNumber = (text: string): Ipv4Number | null => {
  if (/^0[xX][0-9a-fA-F]*$/.test(text)) {
    return { value: text.length === 2 ? 0 : Number.parseInt(text.slice(2), 16) }
  }
  if (/^0[0-7]+$/.test(text)) {
    return { value: Number.parseInt(text, 8) }
  }
  return /^(?:0|[1-9][0-9]*)$/.test(text) ? { value: Number.parseInt(text, 10) } : null
}

/** True if `domain` must be an IPv4 address, because its last label is a number. */
export const endsInNumber = (domain: string): boolean => {
  const labels = domain.split(".")
  if (labels.length > 1 && labels.at(-1) === "") {
    labels.pop()
  }
  const last = labels.at(-1) ?? ""
  return /^[0-9]+$/.test(last) || parseNumber(last) !== null
}

/** Returns the address in dotted decimal form; null if it is invalid. */
export const parseIpv4 = (text: string): string | null => {
  const parts = text.split(".")
  if (parts.length > 1 && parts.at(-1) === "") {
    parts.pop()
  }
  const numbers = parts.map(parseNumber)
  const last = numbers.at(-1)
  if (parts.length > 4 || !last || last.value >= 256 ** (5 - parts.length)) {
    return null
  }
  let address = last.value
  for (const [index, number] of numbers.slice(0, -1).entries()) {
    if (number === null || number.value > 255) {
      return null
    }
    address += number.value * 256 ** (3 - index)
  }
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".")
}

/** Returns the two pieces for the dotted decimal end of an IPv6 address. */
const parseDotted = (text: string): ReadonlyArray<number> | null => {
  if (!/^(?:(?:0|[1-9][0-9]{0,2})(?:\.(?=.)|$)){4}$/.test(text)) {
    return null
  }
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number)
  return Math.max(a, b, c, d) > 255 ? null : [a * 256 + b, c * 256 + d]
}

const parsePieces = (text: string): ReadonlyArray<number> | null => {
  if (text === "") {
    return []
  }
  const groups = text.split(":")
  const pieces: Array<number> = []
  for (const [index, group] of groups.entries()) {
    const dotted = group.includes(".") && index === groups.length - 1 ? parseDotted(group) : null
    if (dotted !== null) {
      pieces.push(...dotted)
    } else if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      pieces.push(Number.parseInt(group, 16))
    } else {
      return null
    }
  }
  return pieces
}

/** Returns the pieces of an address without brackets; null if it is invalid. */
const parsePiecesIpv6 = (text: string): ReadonlyArray<number> | null => {
  const halves = text.split("::")
  const before = parsePieces(halves[0] ?? "")
  const after = parsePieces(halves[1] ?? "")
  if (halves.length > 2 || before === null || after === null || (halves.length === 2 && /\./.test(halves[0] ?? ""))) {
    return null
  }
  const missing = 8 - before.length - after.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) {
    return null
  }
  return [...before, ...new Array<number>(missing).fill(0), ...after]
}

/** Finds the first of the longest sequences of at least two zeros. */
const longestZeros = (pieces: ReadonlyArray<number>): { start: number; length: number } => {
  let longest = { start: -1, length: 1 }
  for (let start = 0; start < pieces.length; start++) {
    let end = start
    while (pieces[end] === 0) {
      end++
    }
    if (end - start > longest.length) {
      longest = { start, length: end - start }
    }
    start = Math.max(start, end - 1)
  }
  return longest
}

/** Returns the address in its shortest form, without brackets; null if `text` is not an address. */
export const parseIpv6 = (text: string): string | null => {
  const pieces = parsePiecesIpv6(text)
  if (pieces === null) {
    return null
  }
  const { start, length } = longestZeros(pieces)
  const write = (part: ReadonlyArray<number>) => part.map((piece) => piece.toString(16)).join(":")
  return start < 0 ? write(pieces) : write(pieces.slice(0, start)) + "::" + write(pieces.slice(start + length))
}
