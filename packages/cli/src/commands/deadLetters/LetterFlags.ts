/** Flags that select dead letters. */
import { Clock, Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { usageError } from "../../Failure.ts"
import { parseDuration } from "../../input/Duration.ts"
import { switchFlag } from "../../input/Switch.ts"
import { selectionFlags } from "../deliveries/SelectionFlags.ts"

const timeFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar("time"), Flag.withDescription(description), Flag.optional)

export const filterFlags = {
  ...selectionFlags,
  since: timeFlag("since", "Only dead letters of the last 30m, 24h or 7d, or since an ISO 8601 timestamp"),
  until: timeFlag("until", "Only dead letters from before the last 30m, 24h or 7d, or before an ISO 8601 timestamp")
}

export const passFlags = {
  letters: Argument.String("letter").pipe(
    Argument.withDescription("Ids of dead letters: the runs of their last attempts"),
    Argument.variadic()
  ),
  all: switchFlag("all", "Select all dead letters of the environment"),
  ...filterFlags
}

interface Filters {
  readonly project: Option.Option<string>
  readonly fn: Option.Option<string>
  readonly event: Option.Option<string>
  readonly since: Option.Option<string>
  readonly until: Option.Option<string>
}

/** Returns the filters in the format of the API. */
export const readFilters = ({ project, fn, event, since, until }: Filters) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const toInstant = (text: string): string =>
      Option.match(parseDuration(text), {
        onNone: () => text,
        onSome: (seconds) => new Date(now - seconds * 1000).toISOString()
      })
    return {
      ...(Option.isNone(project) ? {} : { project: project.value }),
      ...(Option.isNone(fn) ? {} : { fn: fn.value }),
      ...(Option.isNone(event) ? {} : { event_type: event.value }),
      ...(Option.isNone(since) ? {} : { since: toInstant(since.value) }),
      ...(Option.isNone(until) ? {} : { until: toInstant(until.value) })
    }
  })

/** Returns the selection of a pass. Fails unless it has ids, filters or `--all`, and only one kind of these. */
export const readSelection = Effect.fnUntraced(function* (
  flags: Filters & { readonly letters: ReadonlyArray<string>; readonly all: boolean }
) {
  const { letters, all } = flags
  const filters = yield* readFilters(flags)
  const isFiltered = Object.keys(filters).length > 0
  if ([letters.length > 0, all, isFiltered].filter(Boolean).length !== 1)
    return yield* usageError("Select the dead letters", "give their ids, or filters such as --function, or --all")
  return { ...filters, ...(letters.length === 0 ? {} : { ids: letters }) }
})
