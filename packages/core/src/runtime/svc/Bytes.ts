/** Inputs and outputs of operations that transfer bytes. */
import { Effect, Schema } from "effect"
import { base64Decode, base64Encode } from "../../foundation/Base64.ts"
import type { HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { refuse } from "./Operation.ts"
import type { ReadAhead, ReadBytes } from "./ReadAhead.ts"

/** Number that the guest chose for an open resource. */
export const GuestId = Schema.Int.check(Schema.isGreaterThan(0))

/** Length of a content in bytes, or null if it is unknown. */
export const Length = Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

/** Maximum bytes of one reply. More would not be faster and would occupy memory longer. */
export const answerBytesMax = 384 * 1024

/** Maximum bytes of a reply, and its encoding as text. */
export const PieceRequest = { max: Schema.Int.check(Schema.isGreaterThan(0)), text: Schema.Boolean }

/** A piece of a content: base64, or with `text` its UTF-8 text. `done` is true for the last one. */
export const Piece = Schema.Struct({ bytes: Schema.String, done: Schema.Boolean })

/** Returns the JSON text of a piece. */
export const pieceText = (
  { bytes, done }: ReadBytes,
  text: boolean,
  decodeText: ReadAhead<unknown>["decodeText"]
): string => {
  // Base64 needs no escapes.
  const content = text ? JSON.stringify(decodeText(bytes, done)) : `"${base64Encode(bytes)}"`
  return `{"bytes":${content},"done":${done}}`
}

export const decodeBytes = (text: string): Effect.Effect<Uint8Array, HostCallRefused> => {
  const bytes = base64Decode(text)
  return bytes === null ? refuse("the bytes are not base64") : Effect.succeed(bytes)
}
