/** The header `Range` (RFC 9110, section 14): one range of bytes. */
import type { ByteRange } from "@weft/core/adapter"

/** A parsed header. `Whole` also for several ranges and for unknown units, which servers may ignore. */
export type RangeRequest = { readonly _tag: "Whole" } | { readonly _tag: "Unsatisfiable" } | Part

interface Part {
  readonly _tag: "Part"
  readonly range: ByteRange
}

const whole: RangeRequest = { _tag: "Whole" }
const unsatisfiable: RangeRequest = { _tag: "Unsatisfiable" }

/** Parses the header for content of `size` bytes. */
export const parseRange = (header: string | undefined, size: number): RangeRequest => {
  const found = header === undefined ? null : /^bytes=[ \t]*([0-9]*)-([0-9]*)[ \t]*$/i.exec(header)
  const [, first = "", last = ""] = found ?? []
  if (first === "" && last === "") return whole
  return first === ""
    ? toSuffixRange(Number(last), size)
    : toRange(Number(first), last === "" ? null : Number(last), size)
}

/** Returns the range of the last `count` bytes. Empty content is always returned whole. */
const toSuffixRange = (count: number, size: number): RangeRequest => {
  if (count === 0) return unsatisfiable
  return size === 0 ? whole : { _tag: "Part", range: { start: Math.max(0, size - count), end: size } }
}

const toRange = (first: number, last: number | null, size: number): RangeRequest => {
  if (last !== null && last < first) return whole
  if (first >= size) return unsatisfiable
  return { _tag: "Part", range: { start: first, end: last === null ? size : Math.min(last + 1, size) } }
}
