/** A row of a table of host calls whose answers are JSON text: what the calls for bytes share. */
import { Effect, Schema } from "effect"
import { base64Decode } from "../ids/Base64.ts"
import type { Run } from "../runs/Run.ts"
import { HostCallRefused } from "../sandbox/Sandbox.ts"

/** Whose calls they are. */
export type Owner = Pick<Run, "run_id" | "env_id" | "project_id" | "build_id">

export type GuestOperation<R = Owner> = (run: R, payload: string) => Effect.Effect<string, HostCallRefused>

/** A failure that may be shown to guest code: those that callers can act on, by name and message. */
interface Tellable {
  readonly _tag: string
  readonly message: string
}

/** `nameOf` says what the guest's error is called; by default by its tag. */
export const guestOperation = <A, E extends Tellable, R = Owner>(
  schema: Schema.Codec<A, unknown>,
  act: (run: R, input: A) => Effect.Effect<string, E>,
  nameOf: (error: E) => string = ({ _tag }) => _tag
): GuestOperation<R> => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(schema))
  return (run, payload) =>
    Effect.matchEffect(decode(payload), {
      onFailure: ({ message }) => refused(message),
      onSuccess: (input) =>
        Effect.mapError(act(run, input), (error) =>
          error instanceof HostCallRefused
            ? error
            : new HostCallRefused({ name: nameOf(error), message: error.message })
        )
    })
}

/** A guest that asks for what cannot be. */
export const refused = (message: string) => Effect.fail(new HostCallRefused({ name: "TypeError", message }))

/** The guest's own number for what it has open. */
export const GuestId = Schema.Int.check(Schema.isGreaterThan(0))

/** Bytes of one answer, at most: more would gain nothing and stay in memory for longer. */
export const answerBytesMax = 384 * 1024

/** How many bytes an answer may have, and whether as text. */
export const Piece = { max: Schema.Int.check(Schema.isGreaterThan(0)), text: Schema.Boolean }

export const bytesOf = (text: string): Effect.Effect<Uint8Array, HostCallRefused> => {
  const bytes = base64Decode(text)
  return bytes === null ? refused("the bytes are not base64") : Effect.succeed(bytes)
}
