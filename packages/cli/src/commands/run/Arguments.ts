/** The arguments of a call, from the command line or from a file. */
import type { Json } from "@weft/client"
import { Effect, Result } from "effect"
import { type Failure, misuse } from "../../Failure.ts"
import { jsonOf } from "../../input/JsonText.ts"

/** Each is JSON. */
export const argumentsOf = (texts: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Json>, Failure> =>
  Effect.forEach(texts, (text, at) =>
    Result.match(jsonOf(text), {
      onSuccess: (value) => Effect.succeed(value),
      onFailure: (reason) => Effect.fail(misuse(`Argument ${at + 1} is ${reason.message}`, reason.remedy))
    })
  )

/** A list is the arguments, anything else the only one. */
export const argumentsOfFile = (name: string, text: string): Effect.Effect<ReadonlyArray<Json>, Failure> =>
  Result.match(jsonOf(text), {
    onSuccess: (value) => Effect.succeed(isList(value) ? value : [value]),
    onFailure: ({ message }) => Effect.fail(misuse(`${name} is ${message}`))
  })

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)
