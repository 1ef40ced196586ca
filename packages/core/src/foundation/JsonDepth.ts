/**
 * The arrays and objects of untrusted JSON text. Parsers and schemas of deep values overflow the stack or take seconds. A
 * million empty arrays in 3 MB of text also take a parser a second, and 50 bytes of memory each.
 */

const [quote, backslash, openArray, closeArray, openObject, closeObject] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d]

/** True if the brackets outside of strings are nested deeper than `levels`. The text may be invalid JSON. */
export const isDeeper = (text: string, levels: number): boolean =>
  hasMoreOpening(text, levels) && exceeds(text, levels, Number.POSITIVE_INFINITY)

/** True if the text has more than `count` arrays and objects. The text may be invalid JSON. */
export const hasMoreContainers = (text: string, count: number): boolean =>
  text.length > 2 * count && hasMoreOpening(text, count) && exceeds(text, Number.POSITIVE_INFINITY, count)

/** Scans the text, without its strings, until it has more levels or more opening brackets. */
const exceeds = (text: string, levels: number, count: number): boolean => {
  let depth = 0
  let opened = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit === quote) index = findEnd(text, index + 1)
    else if (unit === openArray || unit === openObject) {
      if (++depth > levels || ++opened > count) return true
    } else if (unit === closeArray || unit === closeObject) depth--
  }
  return false
}

/** True if the text has more than `count` opening brackets, in strings as well. A search costs far less than a scan. */
const hasMoreOpening = (text: string, count: number): boolean => {
  if (text.length <= count) return false
  let found = 0
  for (const bracket of ["[", "{"]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++found > count) return true
    }
  }
  return false
}

/** Returns the index of the quote that ends the string whose content begins at `from`, or the length of the text. */
const findEnd = (text: string, from: number): number => {
  let end = text.indexOf('"', from)
  while (end >= 0 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

/** True if an odd number of backslashes precedes the index. */
const isEscaped = (text: string, index: number, from: number): boolean => {
  let first = index
  while (first > from && text.charCodeAt(first - 1) === backslash) first--
  return (index - first) % 2 === 1
}
