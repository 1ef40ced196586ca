/** Parses the arguments of a call. */
import type { Json } from "@weft/client"
import { Effect, Result } from "effect"
import { type Failure, usageError } from "../../Failure.ts"
import { parseJsonText } from "../../input/JsonText.ts"

/** Parses arguments of the command line, each of which is JSON. */
export const parseArguments = (texts: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Json>, Failure> =>
  Effect.forEach(texts, (text, at) =>
    Result.match(parseJsonText(text), {
      onSuccess: (value) => Effect.succeed(value),
      onFailure: (reason) => Effect.fail(usageError(`Argument ${at + 1} is ${reason.message}`, reason.remedy))
    })
  )

/** Parses a file of JSON: an array is the list of arguments, any other value the only argument. */
export const parseArgumentsFile = (name: string, text: string): Effect.Effect<ReadonlyArray<Json>, Failure> =>
  Result.match(parseJsonText(text), {
    onSuccess: (value) => Effect.succeed(isList(value) ? value : [value]),
    onFailure: ({ message }) => Effect.fail(usageError(`${name} is ${message}`))
  })

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)
