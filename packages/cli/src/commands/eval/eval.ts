/** `weft eval`: runs source text that was not deployed, and prints its result. */
import type { Evaluation } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { readText } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { duration } from "../../output/Times.ts"
import { prettyJson } from "../../output/Values.ts"
import { entryText } from "../logs/LogText.ts"
import { parseArguments } from "../run/Arguments.ts"
import { errorLines, readError } from "../runs/RunText.ts"

const flags = {
  file: Argument.String("file").pipe(Argument.withDescription("A file of TypeScript or JavaScript, - for stdin")),
  args: Argument.String("args").pipe(
    Argument.withDescription("Arguments, each as JSON; put -- before one that begins with a hyphen"),
    Argument.variadic()
  ),
  project: Flag.String("project").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("Project whose build the source can use as weft:build, with its secrets"),
    Flag.optional
  ),
  build: Flag.String("build").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Build of the project, deployed by default"),
    Flag.optional
  ),
  timeout: Flag.Int("timeout").pipe(
    Flag.withMetavar("seconds"),
    Flag.withDescription("Seconds, at most 60; 30 by default"),
    Flag.optional
  )
}

export const evaluate = Command.make(
  "eval",
  flags,
  Effect.fnUntraced(function* ({ file, args, project, build, timeout }) {
    const api = yield* Api
    const output = yield* Output
    const input = {
      source: yield* readText(file),
      args: yield* parseArguments(args),
      project: Option.getOrUndefined(project),
      build_id: Option.getOrUndefined(build),
      timeout: Option.getOrUndefined(timeout)
    }
    yield* output.status("running…")
    const ended = yield* api
      .request((weft, options) => weft.eval.run(input, options))
      .pipe(Effect.ensuring(output.status(null)))
    yield* show(ended)
  })
).pipe(
  Command.withDescription("Run source text that was not deployed, and print its result"),
  Command.withExamples([
    { command: "weft eval report.ts 2026", description: "A module with a default export, or the body of a function" },
    { command: "echo 'args[0] * 2' | weft eval - 21", description: "An expression from stdin" }
  ])
)

/** Prints the result on stdout, and the log and the usage on stderr. */
const show = Effect.fnUntraced(function* (ended: Evaluation) {
  const output = yield* Output
  const { paint } = output
  // The first entry is that of the request.
  yield* Effect.forEach(output.json ? [] : ended.logs.slice(1), (entry) => output.note(entryText(entry, paint)))
  if (ended.status === "succeeded") {
    yield* output.print(ended, () => prettyJson(ended.result))
    return yield* output.note(paint.dim(usageText(ended)))
  }
  if (output.json) yield* output.print(ended, () => "")
  const error = readError(ended.result)
  const [headline = ended.status, ...frames] = error === null ? [] : errorLines(error, paint)
  return yield* failure(
    `run_${ended.status}`,
    headline,
    null,
    frames.map((frame) => frame.trimStart())
  )
})

const usageText = ({ run_id, cpu_ms, wall_ms, heap_bytes }: Evaluation): string =>
  `succeeded in ${duration(wall_ms ?? 0)}, processor ${duration(cpu_ms ?? 0)}, heap ${bytes(heap_bytes ?? 0)}, run ${run_id}`
