/** Strict decoding of text that clients send. A lenient decoder replaces invalid bytes by U+FFFD, and the text is lost. */
import { BadRequest } from "@weft/core"

const decoder = new TextDecoder("utf-8", { fatal: true })

export const notUtf8 = new BadRequest({ reason: "The body is not valid UTF-8" })

/** Returns the text of a body without its byte order mark, or null for invalid UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes)
  } catch {
    return null
  }
}
