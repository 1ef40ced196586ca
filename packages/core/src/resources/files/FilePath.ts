/** Rules for the paths of files (decisions section 2). */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { utf8Encode } from "../../foundation/Utf8.ts"

/** Maximum size in UTF-8 bytes. */
const pathBytesMax = 1024

/** Fails unless the text is a valid path: segments separated by `/`, none of them empty, `.` or `..`. */
export const checkPath = (path: string): Effect.Effect<void, BadRequest> => {
  const fault = findFault(path)
  return fault === null ? Effect.void : Effect.fail(new BadRequest({ reason: `path must ${fault}` }))
}

const findFault = (path: string): string | null => {
  if (path === "") return "have 1 to 1024 bytes"
  // Checks the number of characters first, because encoding a very long text is expensive.
  if (path.length > pathBytesMax || utf8Encode(path).length > pathBytesMax) return "have 1 to 1024 bytes"
  if (!path.isWellFormed()) return "be well-formed Unicode"
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "have no control characters"
  if (path.includes("\\")) return "have no backslash"
  return path.split("/").some(isEmptyOrDots) ? "consist of segments that are not empty, . or .." : null
}

const isEmptyOrDots = (segment: string): boolean => segment === "" || segment === "." || segment === ".."
