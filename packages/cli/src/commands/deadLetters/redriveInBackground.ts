/** Redrives dead letters by an operation, which continues without this command. */
import { Effect, Option } from "effect"
import { usageError } from "../../Failure.ts"
import { parsePeriod } from "../../input/Period.ts"
import { runMatching } from "../operations/MatchingFlags.ts"

interface BackgroundFlags {
  readonly letters: ReadonlyArray<string>
  readonly all: boolean
  readonly project: Option.Option<string>
  readonly fn: Option.Option<string>
  readonly event: Option.Option<string>
  readonly error: Option.Option<string>
  readonly since: Option.Option<string>
  readonly until: Option.Option<string>
  readonly build: "same" | "deployed"
  readonly rate: Option.Option<number>
  readonly dryRun: boolean
  readonly detach: boolean
}

/** Fails unless the flags select letters by filters that an operation has. */
export const redriveInBackground = Effect.fnUntraced(function* (flags: BackgroundFlags) {
  const { letters, all, project, fn, event, error, since, until, build } = flags
  if (letters.length > 0 || Option.isSome(until))
    return yield* usageError("--background cannot be combined with ids or --until", "use filters such as --function")
  const period = Option.flatMap(since, parsePeriod)
  if (Option.isSome(since) && Option.isNone(period))
    return yield* usageError("With --background, --since is a time such as 30m, 24h or 7d")
  const filter = {
    ...(Option.isNone(project) ? {} : { project: project.value }),
    ...(Option.isNone(fn) ? {} : { fn: fn.value }),
    ...(Option.isNone(event) ? {} : { event_type: event.value }),
    ...(Option.isNone(error) ? {} : { error: error.value }),
    ...(Option.isNone(period) ? {} : { time_range: period.value })
  }
  if (all === Object.keys(filter).length > 0)
    return yield* usageError("Select the dead letters", "give filters such as --function, or --all")
  yield* runMatching({ kind: "redrive", filter, options: { build } }, flags)
})
