/** `weft run`: calls a function and shows what it came to. */
import type { Json, Run } from "@weft/client"
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, misuse } from "../../Failure.ts"
import { readText } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"
import { tookOf } from "../../output/Times.ts"
import { prettyJson } from "../../output/Values.ts"
import { entryText } from "../logs/LogText.ts"
import { errorLines, errorOf } from "../runs/RunText.ts"
import { argumentsOf, argumentsOfFile } from "./Arguments.ts"

const waitMax = 300

const flags = {
  fn: Argument.String("function").pipe(
    Argument.withDescription("ns/name, or project:ns/name where several projects have it")
  ),
  args: Argument.String("args").pipe(
    Argument.withDescription("What it is called with, each as JSON; after -- where one begins with a hyphen"),
    Argument.variadic()
  ),
  file: Flag.String("file").pipe(
    Flag.withMetavar("path"),
    Flag.withDescription("Take the arguments from a file of JSON, - for stdin: a list is all of them"),
    Flag.optional
  ),
  wait: Flag.Int("wait").pipe(
    Flag.filter(
      (seconds) => seconds >= 0 && seconds <= waitMax,
      () => `Expected: seconds from 0 to ${waitMax}`
    ),
    Flag.withDescription("How many seconds to wait for its end, 60 by default; 0 leaves it to itself"),
    Flag.withDefault(60)
  ),
  idempotencyKey: Flag.String("idempotency-key").pipe(
    Flag.withMetavar("key"),
    Flag.withDescription("Calls with the same key are one, for 24 hours"),
    Flag.optional
  )
}

export const run = Command.make(
  "run",
  flags,
  Effect.fnUntraced(function* ({ fn, args, file, wait, idempotencyKey }) {
    const api = yield* Api
    const output = yield* Output
    const given = yield* givenArguments(args, Option.getOrNull(file))
    const key = Option.getOrUndefined(idempotencyKey)
    yield* output.status(wait === 0 ? null : `Waiting for ${fn}…`)
    const called = yield* api
      .ask((weft, asking) => weft.calls.call({ fn, args: given, wait }, { ...asking, idempotencyKey: key }))
      .pipe(Effect.ensuring(output.status(null)))
    if ("run_id" in called) return yield* show(called, wait)
    yield* output.print(called, () => `Too much else is running: it will begin, as a run of event ${called.event_id}`)
  })
).pipe(
  Command.withDescription("Call a function and print what it returns; exits with 1 if it fails"),
  Command.withExamples([
    { command: `weft run billing/charge '{"id": 17}' true`, description: "With two arguments" },
    { command: "weft run billing/charge --file args.json --wait 300", description: "With the arguments of a file" }
  ])
)

const givenArguments = Effect.fnUntraced(function* (args: ReadonlyArray<string>, file: string | null) {
  if (file === null) return yield* argumentsOf(args)
  if (args.length > 0)
    return yield* misuse("The arguments are given twice", "leave out --file, or all but the function")
  return yield* argumentsOfFile(file === "-" ? "What stdin says" : file, yield* readText(file))
})

/** The result on stdout; what the run logged, and how it went, on stderr. */
const show = Effect.fnUntraced(function* (run: Run, wait: number) {
  const output = yield* Output
  yield* Effect.forEach(output.json ? [] : yield* logOf(run.run_id), (entry) =>
    output.note(entryText(entry, output.paint))
  )
  if (run.status === "running") {
    yield* output.print(run, () => run.run_id)
    if (wait > 0) return yield* stillRunning(run, wait)
    return yield* output.note(`It goes on. See it with: weft logs ${run.run_id} --follow`)
  }
  if (run.status === "succeeded") {
    yield* output.print(run, () => prettyJson(run.result))
    return yield* output.note(output.paint.dim(`succeeded in ${tookOf(run)}, run ${run.run_id}`))
  }
  if (output.json) yield* output.print(run, () => "")
  return yield* failureOfRun(run, run.result)
})

const stillRunning = ({ run_id }: Run, wait: number) =>
  failure("running", `The run has not ended within ${wait} s`, `see it with \`weft logs ${run_id} --follow\``)

const failureOfRun = Effect.fnUntraced(function* (run: Run, result: Json) {
  const { paint } = yield* Output
  const error = errorOf(result)
  const [headline = run.status, ...frames] = error === null ? [] : errorLines(error, paint)
  const remedy = run.status === "failed" ? `\`weft logs ${run.run_id}\` shows its log` : null
  return yield* failure(
    `run_${run.status}`,
    headline,
    remedy,
    frames.map((frame) => frame.trimStart())
  )
})

const logOf = Effect.fnUntraced(function* (runId: string) {
  const api = yield* Api
  return yield* Stream.runCollect(api.all((weft, asking) => weft.runs.logs(runId, {}, asking)))
})
