/** Texts with a common prefix, as a range of an index. */

const lastCodePoint = 0x10ffff
const firstSurrogate = 0xd800
const lastSurrogate = 0xdfff

/**
 * Returns the least text, in UTF-8 byte order, that is greater than all texts with the prefix, or null if no text is
 * greater. Code points sort as their UTF-8 bytes do.
 */
export const endOfPrefix = (prefix: string): string | null => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === lastCodePoint) points.pop()
  const last = points.pop()
  if (last === undefined) return null
  const next = last + 1 === firstSurrogate ? lastSurrogate + 1 : last + 1
  return String.fromCodePoint(...points, next)
}
