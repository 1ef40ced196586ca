/** `weft run`: calls a function and prints its result. */
import type { Json, Run } from "@weft/client"
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, usageError } from "../../Failure.ts"
import { readText } from "../../input/Text.ts"
import { Output } from "../../output/Output.ts"
import { formatRunDuration } from "../../output/Times.ts"
import { prettyJson } from "../../output/Values.ts"
import { readProject } from "../../project/Project.ts"
import { entryText } from "../logs/LogText.ts"
import { errorLines, readError } from "../runs/RunText.ts"
import { parseArguments, parseArgumentsFile } from "./Arguments.ts"

const waitMax = 300

const flags = {
  fn: Argument.String("function").pipe(
    Argument.withDescription("ns/name, or project:ns/name if several projects have it")
  ),
  args: Argument.String("args").pipe(
    Argument.withDescription("Arguments, each as JSON; put -- before one that begins with a hyphen"),
    Argument.variadic()
  ),
  file: Flag.String("file").pipe(
    Flag.withMetavar("path"),
    Flag.withDescription("Read the arguments from a JSON file, - for stdin; an array is the list of arguments"),
    Flag.optional
  ),
  wait: Flag.Int("wait").pipe(
    Flag.filter(
      (seconds) => seconds >= 0 && seconds <= waitMax,
      () => `Expected: seconds from 0 to ${waitMax}`
    ),
    Flag.withDescription("Seconds to wait for its end, 60 by default; 0 does not wait"),
    Flag.withDefault(60)
  ),
  build: Flag.String("build").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription(
      "Run the function of this build, deployed or not, of the project in project:ns/name or this folder"
    ),
    Flag.optional
  ),
  idempotencyKey: Flag.String("idempotency-key").pipe(
    Flag.withMetavar("key"),
    Flag.withDescription("Deduplicate calls with the same key for 24 hours"),
    Flag.optional
  )
}

export const run = Command.make(
  "run",
  flags,
  Effect.fnUntraced(function* ({ fn, args, file, wait, build, idempotencyKey }) {
    const output = yield* Output
    const given = yield* readArguments(args, Option.getOrNull(file))
    if (Option.isSome(build) && Option.isSome(idempotencyKey))
      return yield* usageError("--build and --idempotency-key cannot be combined", "omit one of them")
    yield* output.status(wait === 0 ? null : `Waiting for ${fn}…`)
    const input = { fn, args: given, wait }
    const called = yield* Option.match(build, {
      onNone: () => call(input, Option.getOrUndefined(idempotencyKey)),
      onSome: (id) => runBuild(input, id)
    }).pipe(Effect.ensuring(output.status(null)))
    if ("run_id" in called) return yield* show(called, wait)
    yield* output.print(called, () => `No slot is free: the call is queued as event ${called.event_id}`)
  })
).pipe(
  Command.withDescription("Call a function and print its result; the exit code is 1 if it fails"),
  Command.withExamples([
    { command: `weft run billing/charge '{"id": 17}' true`, description: "With two arguments" },
    { command: "weft run billing/charge --file args.json --wait 300", description: "With the arguments of a file" },
    { command: "weft run shop:billing/charge --build 01890000-…", description: "Of a build that may not be deployed" }
  ])
)

interface Input {
  readonly fn: string
  readonly args: ReadonlyArray<Json>
  readonly wait: number
}

const call = Effect.fnUntraced(function* (input: Input, idempotencyKey: string | undefined) {
  const api = yield* Api
  return yield* api.request((weft, options) => weft.calls.call(input, { ...options, idempotencyKey }))
})

/** Runs the function of a build. The project is that of the reference, or that of the folder. */
const runBuild = Effect.fnUntraced(function* (input: Input, buildId: string) {
  const api = yield* Api
  const colon = input.fn.indexOf(":")
  const project = colon === -1 ? (yield* readProject).name : input.fn.slice(0, colon)
  const fn = input.fn.slice(colon + 1)
  return yield* api.request((weft, options) => weft.builds.run(project, buildId, { ...input, fn }, options))
})

const readArguments = Effect.fnUntraced(function* (args: ReadonlyArray<string>, file: string | null) {
  if (file === null) return yield* parseArguments(args)
  if (args.length > 0)
    return yield* usageError("The arguments are given twice", "omit --file, or the arguments after the function")
  return yield* parseArgumentsFile(file === "-" ? "stdin" : file, yield* readText(file))
})

/** Prints the result on stdout, and the log and the status on stderr. */
const show = Effect.fnUntraced(function* (run: Run, wait: number) {
  const output = yield* Output
  yield* Effect.forEach(output.json ? [] : yield* fetchLog(run.run_id), (entry) =>
    output.note(entryText(entry, output.paint))
  )
  if (run.status === "running") {
    yield* output.print(run, () => run.run_id)
    if (wait > 0) return yield* stillRunning(run, wait)
    return yield* output.note(`The run continues. Follow it with: weft logs ${run.run_id} --follow`)
  }
  if (run.status === "succeeded") {
    yield* output.print(run, () => prettyJson(run.result))
    return yield* output.note(output.paint.dim(`succeeded in ${formatRunDuration(run)}, run ${run.run_id}`))
  }
  if (output.json) yield* output.print(run, () => "")
  return yield* toRunFailure(run, run.result)
})

const stillRunning = ({ run_id }: Run, wait: number) =>
  failure("running", `The run has not ended within ${wait} s`, `follow it with \`weft logs ${run_id} --follow\``)

const toRunFailure = Effect.fnUntraced(function* (run: Run, result: Json) {
  const { paint } = yield* Output
  const error = readError(result)
  const [headline = run.status, ...frames] = error === null ? [] : errorLines(error, paint)
  const remedy = run.status === "failed" ? `\`weft logs ${run.run_id}\` shows its log` : null
  return yield* failure(
    `run_${run.status}`,
    headline,
    remedy,
    frames.map((frame) => frame.trimStart())
  )
})

const fetchLog = Effect.fnUntraced(function* (runId: string) {
  const api = yield* Api
  return yield* Stream.runCollect(api.stream((weft, options) => weft.runs.logs(runId, {}, options)))
})
