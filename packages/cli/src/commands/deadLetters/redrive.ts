import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { passFlags, readSelection } from "./LetterFlags.ts"
import { redriveInBackground } from "./redriveInBackground.ts"
import { formatLetters, noteSkipped, runPasses } from "./runPasses.ts"

export const redrive = Command.make(
  "redrive",
  {
    ...passFlags,
    build: Flag.Literals("build", ["same", "deployed"]).pipe(
      Flag.withDescription("The build of the last attempt, or the currently deployed build"),
      Flag.withDefault("same")
    ),
    dryRun: switchFlag("dry-run", "Start nothing, and print the number of dead letters"),
    background: switchFlag("background", "As an operation, which continues without this command"),
    error: Flag.String("error").pipe(
      Flag.withMetavar("text"),
      Flag.withDescription("With --background: only with this text in the name or message of their error"),
      Flag.optional
    ),
    rate: Flag.Int("rate").pipe(
      Flag.withMetavar("number"),
      Flag.withDescription("With --background: maximum dead letters per second"),
      Flag.optional
    ),
    detach: switchFlag("detach", "With --background: do not wait for the end")
  },
  Effect.fnUntraced(function* ({ build, dryRun, background, error, rate, detach, ...flags }) {
    if (background) return yield* redriveInBackground({ ...flags, build, dryRun, error, rate, detach })
    if (detach || Option.isSome(error) || Option.isSome(rate))
      return yield* usageError("--error, --rate and --detach need --background")
    const selection = { ...(yield* readSelection(flags)), build, ...(dryRun ? { dry_run: true } : {}) }
    const api = yield* Api
    const output = yield* Output
    const passes = yield* runPasses(
      (cursor) => api.request((weft, options) => weft.deadLetters.redrive({ ...selection, ...cursor }, options)),
      ({ redriven }) => redriven
    )
    const { count, skipped } = passes
    yield* output.print(dryRun ? { redriven: 0, matched: count, skipped } : { redriven: count, skipped }, () =>
      dryRun ? `Would start ${formatLetters(count)} again` : `Started ${formatLetters(count)} again`
    )
    yield* noteSkipped(passes)
    if (!dryRun && count > 0) yield* output.note("See whether they failed again: weft dead-letters list --since 5m")
    if (dryRun && count > 0) yield* output.note("Start them: repeat the command without --dry-run")
  })
).pipe(
  Command.withDescription("Run the functions of dead letters again, with the same events"),
  Command.withExamples([
    { command: "weft dead-letters redrive 01970d45-1c90-7a51-9d0c-4a3d2b1c0f6e", description: "One of them" },
    {
      command: "weft dead-letters redrive --function main/onOrder --since 2h --build deployed --dry-run",
      description: "Count those that a fixed build would run again"
    },
    {
      command: "weft dead-letters redrive --background --error timeout --rate 50 --build deployed",
      description: "Many of them, with progress"
    }
  ])
)
