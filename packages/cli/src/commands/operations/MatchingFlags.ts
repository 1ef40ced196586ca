/** Flags that select the runs of an operation, and start it. */
import type { OperationInput } from "@weft/client"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { selectionFlags } from "../deliveries/SelectionFlags.ts"
import { followOperation } from "./followOperation.ts"

/** Flags in addition to `--type`, `--since` and `--event`, which also have other uses. */
export const matchingFlags = {
  allMatching: switchFlag("all-matching", "All runs that the other flags select, in the background"),
  project: selectionFlags.project,
  fn: selectionFlags.fn,
  eventType: selectionFlags.event,
  rate: Flag.Int("rate").pipe(
    Flag.withMetavar("number"),
    Flag.withDescription("With --all-matching: maximum runs per second"),
    Flag.optional
  ),
  dryRun: switchFlag("dry-run", "With --all-matching: change nothing, and print the number of runs"),
  detach: switchFlag("detach", "With --all-matching: do not wait for the end")
}

type RunType = NonNullable<NonNullable<OperationInput["filter"]>["type"]>

export interface MatchingFlags {
  readonly type: Option.Option<RunType>
  readonly since: Option.Option<string>
  readonly event: Option.Option<string>
  readonly waiting: Option.Option<NonNullable<NonNullable<OperationInput["filter"]>["waiting"]>>
  readonly project: Option.Option<string>
  readonly fn: Option.Option<string>
  readonly eventType: Option.Option<string>
  readonly error?: Option.Option<string>
  readonly rate: Option.Option<number>
  readonly dryRun: boolean
  readonly detach: boolean
}

/** True if a flag is given that only operations have. */
export const hasMatchingFlags = (flags: MatchingFlags): boolean => {
  const { waiting, project, fn, eventType, error = Option.none(), rate, dryRun, detach } = flags
  return [waiting, project, fn, eventType, error].some(Option.isSome) || Option.isSome(rate) || dryRun || detach
}

/** Returns the filter that the flags select. */
export const toFilter = (flags: MatchingFlags) => {
  const { type, since, event, waiting, project, fn, eventType, error = Option.none() } = flags
  return {
    ...(Option.isNone(type) ? {} : { type: type.value }),
    ...(Option.isNone(since) ? {} : { time_range: since.value }),
    ...(Option.isNone(event) ? {} : { event_id: event.value }),
    ...(Option.isNone(waiting) ? {} : { waiting: waiting.value }),
    ...(Option.isNone(project) ? {} : { project: project.value }),
    ...(Option.isNone(fn) ? {} : { fn: fn.value }),
    ...(Option.isNone(eventType) ? {} : { event_type: eventType.value }),
    ...(Option.isNone(error) ? {} : { error: error.value })
  }
}

/** Starts an operation and follows it, or counts the runs that it would select. */
export const runMatching = Effect.fnUntraced(function* (
  input: OperationInput,
  flags: Pick<MatchingFlags, "rate" | "dryRun" | "detach">
) {
  const api = yield* Api
  const output = yield* Output
  const rate = Option.getOrUndefined(flags.rate)
  const whole = { ...input, options: { ...input.options, ...(rate === undefined ? {} : { rate }) } }
  if (flags.dryRun) {
    const preview = yield* api.request((weft, options) => weft.operations.create({ ...whole, dry_run: true }, options))
    return yield* output.print(preview, () => `Would ${input.kind} ${countRuns(preview.matched)}`)
  }
  const { dry_run: _, ...created } = whole
  const operation = yield* api.request((weft, options) => weft.operations.create(created, options))
  if (!flags.detach) return yield* followOperation(operation.operation_id)
  yield* output.print(operation, () => operation.operation_id)
  yield* output.note(`Follow it with: weft operations follow ${operation.operation_id}`)
})

const countRuns = (n: number): string => `${n} ${n === 1 ? "run" : "runs"}`
