/** Which text is the path of a file (decisions section 2). */
import { Effect } from "effect"
import { BadRequest } from "../errors/Errors.ts"
import { utf8Encode } from "../ids/Utf8.ts"

/** Bytes of UTF-8. */
const pathBytesMax = 1024

/** Fails unless the text is a path: segments separated by `/`, none of them empty, `.` or `..`. */
export const checkPath = (path: string): Effect.Effect<void, BadRequest> => {
  const fault = faultOf(path)
  return fault === null ? Effect.void : Effect.fail(new BadRequest({ reason: `path must ${fault}` }))
}

const faultOf = (path: string): string | null => {
  if (path === "") return "have 1 to 1024 bytes"
  // A character is at least one byte: what is too long is not encoded first.
  if (path.length > pathBytesMax || utf8Encode(path).length > pathBytesMax) return "have 1 to 1024 bytes"
  if (!path.isWellFormed()) return "be well-formed Unicode"
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "have no control characters"
  if (path.includes("\\")) return "have no backslash"
  return path.split("/").some(isEmptyOrDots) ? "consist of segments that are not empty, . or .." : null
}

const isEmptyOrDots = (segment: string): boolean => segment === "" || segment === "." || segment === ".."
