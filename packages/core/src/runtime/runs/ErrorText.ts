/**
 * Text of the error of a failed run, as searches find it.
 *
 * A search compares stored JSON text, so that a database needs no parser. Name and message have their escape sequences, and the
 * wanted text has the same ones. The stack is not searched.
 */

/** Characters of the beginning of an error that are searched. */
export const errorTextMax = 1000

/** The stored result before the name, between name and message, and before the stack. `buildErrorResult` writes them. */
export const errorMarks = { name: '{"error":{"name":"', message: '","message":"', stack: '","stack":"' } as const

/** Returns the text that `readErrorText` of a matching run contains. */
export const toErrorPattern = (text: string): string => lowerAscii(JSON.stringify(text).slice(1, -1))

/** Returns the searched text of the result of a failed run. No text that a search looks for extends over the separator. */
export const readErrorText = (result: string): string => {
  const text = result.slice(errorMarks.name.length, errorMarks.name.length + errorTextMax)
  const [head = ""] = text.split(errorMarks.stack, 1)
  return lowerAscii(head.replaceAll(errorMarks.message, errorSeparator))
}

/** Between name and message. A text that is searched has no quotation mark without a backslash before it. */
export const errorSeparator = '"'

const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
