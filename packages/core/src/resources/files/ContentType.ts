/** Check of content types, which are stored as sent and must be valid in a response header. */
import { Effect } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"

export const defaultContentType = "application/octet-stream"

const lengthMax = 255

export const checkContentType = (text: string): Effect.Effect<void, BadRequest> =>
  text.length <= lengthMax && /^[\u0020-\u007e]+$/.test(text) ? Effect.void : Effect.fail(badContentType)

const badContentType = new BadRequest({
  reason: `content_type must have 1 to ${lengthMax} characters, all of them printable ASCII`
})
