import { Effect } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { passFlags, readSelection } from "./LetterFlags.ts"
import { formatLetters, noteSkipped, runPasses } from "./runPasses.ts"

export const discard = Command.make(
  "discard",
  { ...passFlags, dryRun: switchFlag("dry-run", "Discard nothing, and print the number of dead letters") },
  Effect.fnUntraced(function* ({ dryRun, ...flags }) {
    const selection = { ...(yield* readSelection(flags)), ...(dryRun ? { dry_run: true } : {}) }
    const api = yield* Api
    const output = yield* Output
    const passes = yield* runPasses(
      (cursor) => api.request((weft, options) => weft.deadLetters.discard({ ...selection, ...cursor }, options)),
      ({ discarded }) => discarded
    )
    const { count, skipped } = passes
    yield* output.print(dryRun ? { discarded: 0, matched: count, skipped } : { discarded: count, skipped }, () =>
      dryRun ? `Would discard ${formatLetters(count)}` : `Discarded ${formatLetters(count)}`
    )
    yield* noteSkipped(passes)
    if (dryRun && count > 0) yield* output.note("Discard them: repeat the command without --dry-run")
  })
).pipe(
  Command.withDescription("Remove dead letters from the list; their runs stay"),
  Command.withExamples([
    { command: "weft dead-letters discard --event-type order:created --until 7d" },
    { command: "weft dead-letters discard --all --dry-run" }
  ])
)
