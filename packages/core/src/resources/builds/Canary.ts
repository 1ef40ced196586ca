/**
 * Canaries: a build that gets a share of the events and calls of its project, and the deployed build the rest.
 *
 * Pure: the settings of a canary, and the side of each event or call.
 */
import { Result, Schema } from "effect"
import { BuildId, CanaryId, EnvId, ProjectId } from "../../foundation/Ids.ts"
import { parseDuration } from "../../foundation/time/Duration.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { compileExpression, type ExpressionInput, expressionLengthMax, loadExpression } from "./Expression.ts"
import type { Manifest } from "./Manifest.ts"
import { nameOf } from "./OnFailure.ts"

/** Type of the event about a canary that became the deployed build. */
export const canaryPromotedType = "svc:canary:promoted"

/** Type of the event about a canary that lost its share again. */
export const canaryRolledBackType = "svc:canary:rolledback"

/** Share and rules of a canary. */
export const CanarySettings = Schema.Struct({
  /** Share of the events and calls that the canary gets, between 0 and 1. */
  share: Schema.Number,
  /** Expression on the event whose values stay on one side; null to decide by the id of the event or request. */
  key: Schema.NullOr(Schema.String),
  /** Time in milliseconds until the rules decide. */
  window_ms: Schema.Int,
  /** Ended runs of the canary before any rule decides. */
  min_runs: Schema.Int,
  /** Maximum share of failed runs. */
  max_failure_share: Schema.NullOr(Schema.Number),
  /** Maximum by which the share of failed runs exceeds that of the deployed build. */
  max_failure_share_over_base: Schema.NullOr(Schema.Number),
  /** Maximum ratio of the 95th percentiles of the durations of runs. */
  max_latency_ratio: Schema.NullOr(Schema.Number),
  /** With `auto`, the rules promote the canary at the end of the window. */
  promote: Schema.Literals(["auto", "manual"])
})
export type CanarySettings = typeof CanarySettings.Type

export const CanaryState = Schema.Literals(["active", "promoted", "rolled_back", "replaced"])
export type CanaryState = typeof CanaryState.Type

/** The latest canary of a project. */
export const Canary = Schema.Struct({
  canary_id: CanaryId,
  env_id: EnvId,
  project_id: ProjectId,
  /** The build that gets the share. */
  build_id: BuildId,
  /** The deployed build that gets the rest. */
  base_build_id: BuildId,
  state: CanaryState,
  settings: CanarySettings,
  started_at: Timestamp,
  ended_at: Schema.NullOr(Timestamp),
  /** Reason for the end; null while the canary is active. */
  reason: Schema.NullOr(Schema.String)
})
export type Canary = typeof Canary.Type

/** Settings as clients send them. */
export interface NewCanary {
  readonly share: number
  readonly key?: string
  /** A duration such as `10m`; 10 minutes by default. */
  readonly window?: string | number
  readonly min_runs?: number
  readonly max_failure_share?: number
  readonly max_failure_share_over_base?: number
  readonly max_latency_ratio?: number
  readonly promote?: CanarySettings["promote"]
}

const windowMinMs = 1_000
const windowMaxMs = 30 * 24 * 3_600_000
const defaultWindowMs = 600_000
const minRunsMax = 1_000_000
const defaultMinRuns = 20

/** Used if no rule on failures is sent: 5 percentage points more than the deployed build. */
const defaultOverBase = 0.05

/** Reads the settings of a new canary. The failure names the field and the reason. */
export const readCanary = (sent: NewCanary): Result.Result<CanarySettings, string> =>
  Result.gen(function* () {
    const { share, key, min_runs = defaultMinRuns, max_latency_ratio, promote = "auto" } = sent
    const { max_failure_share, max_failure_share_over_base } = sent
    if (!(share > 0 && share < 1)) return yield* fault("share", "must be greater than 0 and less than 1", share)
    if (key !== undefined) yield* checkKey(key)
    const window_ms = sent.window === undefined ? defaultWindowMs : parseDuration(sent.window)
    if (window_ms === null || window_ms < windowMinMs || window_ms > windowMaxMs)
      return yield* fault("window", "must be a duration from 1s to 30d, such as 10m", sent.window)
    if (!Number.isInteger(min_runs) || min_runs < 1 || min_runs > minRunsMax)
      return yield* fault("min_runs", `must be an integer from 1 to ${minRunsMax}`, min_runs)
    yield* checkShare("max_failure_share", max_failure_share)
    yield* checkShare("max_failure_share_over_base", max_failure_share_over_base)
    if (max_latency_ratio !== undefined && !(max_latency_ratio >= 1 && max_latency_ratio <= 1_000))
      return yield* fault("max_latency_ratio", "must be from 1 to 1000", max_latency_ratio)
    const hasLimit = max_failure_share !== undefined || max_failure_share_over_base !== undefined
    return {
      share,
      key: key ?? null,
      window_ms: Math.round(window_ms),
      min_runs,
      max_failure_share: max_failure_share ?? null,
      max_failure_share_over_base: max_failure_share_over_base ?? (hasLimit ? null : defaultOverBase),
      max_latency_ratio: max_latency_ratio ?? null,
      promote
    }
  })

const checkShare = (field: string, value: number | undefined): Result.Result<void, string> =>
  value === undefined || (value >= 0 && value < 1)
    ? Result.succeed(undefined)
    : fault(field, "must be at least 0 and less than 1", value)

const checkKey = (key: string): Result.Result<void, string> => {
  if (key.length === 0 || key.length > expressionLengthMax)
    return Result.fail(`canary.key must have 1 to ${expressionLengthMax} characters (got ${key.length})`)
  return Result.match(compileExpression(key, "any"), {
    onSuccess: () => Result.succeed(undefined),
    onFailure: ({ reason, position }) =>
      Result.fail(`canary.key must be an expression on event: ${reason} (position ${position})`)
  })
}

const fault = (field: string, rule: string, got: unknown): Result.Result<never, string> =>
  Result.fail(`canary.${field} ${rule} (got ${JSON.stringify(got) ?? "undefined"})`)

/** The event or request that one side gets. */
export interface CanarySubject {
  /** Id of the event or request, used without a key. */
  readonly id: string
  /** Returns what a key reads. */
  readonly input: () => ExpressionInput
}

/** Returns a function that is true for the subjects of the canary. Equal values of the key have the same side. */
export const makeIsCanarySide = ({
  build_id,
  settings: { share, key }
}: Pick<Canary, "build_id" | "settings">): ((subject: CanarySubject) => boolean) => {
  // With the build in the hash, a larger share contains a smaller one, and the next build has other subjects.
  if (key === null) return ({ id }) => toFraction(`${build_id} ${id}`) < share
  const expression = loadExpression(key, "any")
  return ({ id, input }) => {
    const value = Result.getOrElse(expression.evaluate(input()), () => null)
    return toFraction(`${build_id} ${formatKey(value) ?? id}`) < share
  }
}

const formatKey = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  return typeof value === "bigint" ? String(value) : JSON.stringify(value)
}

/** Returns the place of a text in [0, 1): its FNV-1a hash, whose bits the finalizer of MurmurHash3 mixes. */
const toFraction = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000
}

/**
 * Returns the functions (`ns/var`) of the deployed build that can run deliveries of the canary, whose manifest is null if
 * another one has replaced it. Code that handles single events cannot handle batches, nor the other way round.
 */
export const listRedirected = (canary: Manifest | null, deployed: Manifest): ReadonlyArray<string> => {
  const own = new Map((canary?.functions ?? []).map((fn) => [nameOf(fn), fn.flow?.batch === undefined]))
  return deployed.functions.flatMap((fn) => {
    const handlesSingle = fn.flow?.batch === undefined
    return (own.get(nameOf(fn)) ?? handlesSingle) === handlesSingle ? [nameOf(fn)] : []
  })
}
