/** Reads text from stdin or from a file. */
import { Effect, FileSystem, Stdio, Stream } from "effect"
import { failure } from "../Failure.ts"

export const readStdin = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  return yield* Stream.mkString(Stream.decodeText(stdio.stdin))
}).pipe(Effect.mapError((error) => failure("stdin", `stdin cannot be read: ${error.message}`)))

/** Reads a file; `-` is stdin. */
export const readText = Effect.fnUntraced(function* (name: string) {
  if (name === "-") return yield* readStdin
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(fs.readFileString(name), (error) =>
    failure("file", `${name} cannot be read: ${error.message}`)
  )
})
