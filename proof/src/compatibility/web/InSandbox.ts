/** Runs a test file as a function in the sandbox. */
import { HostCallRefused } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import { invokeMain } from "../Trial.ts"
import { Answer, fileMs } from "./harness.ts"
import type { TestFile } from "./TestFile.ts"

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Answer))

/** Returns the results of a test file, or the reason why the file has no results. */
export const runInSandbox = ({ module }: TestFile) =>
  invokeMain({ "index.js": new TextEncoder().encode(module) }, 2 * fileMs, ({ op }) =>
    Effect.fail(new HostCallRefused({ name: "TypeError", message: `${op} has no network in this proof` }))
  ).pipe(
    Effect.flatMap((output) => Effect.mapError(decode(output), String)),
    Effect.catch((reason) => Effect.succeed(reason))
  )
