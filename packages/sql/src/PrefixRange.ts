/** Texts with a common beginning, as a range that an index knows. */

const lastCodePoint = 0x10ffff
const firstSurrogate = 0xd800
const lastSurrogate = 0xdfff

/**
 * The least text, by bytes of UTF-8, that is greater than all that begin with `prefix`; null when there is none.
 * Code points sort as their bytes do.
 */
export const endOfPrefix = (prefix: string): string | null => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  if (last === undefined) return null
  const next = last + 1 === firstSurrogate ? lastSurrogate + 1 : last + 1
  return String.fromCodePoint(...points, next)
}
