/** Flags of `weft deploy` that make the build a canary. */
import type { DeployInput } from "@weft/client"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { type Failure, usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"

const optional = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

export const canaryFlags = {
  canary: optional("canary", "Give the build this share of the events and calls, such as 10%; the rest stays"),
  window: optional("for", "Time until the rules decide, such as 10m (the default)"),
  key: optional("key", "Expression on the event whose values stay on one side: event.data.customer"),
  minRuns: optional("min-runs", "Ended runs of the canary before any rule decides; 20 by default"),
  maxFailures: optional("max-failures", "Roll back above this share of failed runs, such as 2%"),
  maxMoreFailures: optional(
    "max-more-failures",
    "Roll back if the share exceeds that of the deployed build by more; 5% by default"
  ),
  maxLatencyRatio: optional("max-latency-ratio", "Roll back above this ratio of the 95th percentiles of durations"),
  manual: switchFlag("manual", "Never promote the canary automatically"),
  replace: switchFlag("replace", "End an active canary of the project")
}

export type CanarySettings = Readonly<
  Record<Exclude<keyof typeof canaryFlags, "manual" | "replace">, Option.Option<string>>
> &
  Readonly<Record<"manual" | "replace", boolean>>

/** Returns the input of the deployment. Fails for flags of a canary without `--canary`. */
export const readCanaryFlags = Effect.fnUntraced(function* ({
  manual,
  replace,
  ...given
}: CanarySettings): Effect.fn.Return<DeployInput, Failure> {
  const replaced = replace ? { replace } : {}
  if (Option.isNone(given.canary)) {
    const { canary: _, ...rules } = given
    if (manual || Object.values(rules).some(Option.isSome))
      return yield* usageError("Rules of a canary need --canary", "for example: --canary 10% --for 10m")
    return replaced
  }
  const minRuns = yield* readNumber("min-runs", given.minRuns)
  const maxFailures = yield* readShare("max-failures", given.maxFailures)
  const maxMoreFailures = yield* readShare("max-more-failures", given.maxMoreFailures)
  const maxLatencyRatio = yield* readNumber("max-latency-ratio", given.maxLatencyRatio)
  const share = yield* readShare("canary", given.canary)
  return {
    canary: {
      share: share ?? 0,
      ...(Option.isSome(given.window) ? { window: given.window.value } : {}),
      ...(Option.isSome(given.key) ? { key: given.key.value } : {}),
      ...(minRuns === undefined ? {} : { min_runs: minRuns }),
      ...(maxFailures === undefined ? {} : { max_failure_share: maxFailures }),
      ...(maxMoreFailures === undefined ? {} : { max_failure_share_over_base: maxMoreFailures }),
      ...(maxLatencyRatio === undefined ? {} : { max_latency_ratio: maxLatencyRatio }),
      ...(manual ? { promote: "manual" as const } : {})
    },
    ...replaced
  }
})

/** Reads a share: `10%` or `0.1`. The server checks its limits. */
const readShare = (name: string, text: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(text)) return undefined
    const [, count, sign] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.value) ?? []
    if (count === undefined)
      return yield* usageError(`--${name} must be a share (got ${JSON.stringify(text.value)})`, "for example: 10%")
    return sign === "%" ? Number(count) / 100 : Number(count)
  })

const readNumber = (name: string, text: Option.Option<string>) =>
  Effect.gen(function* () {
    if (Option.isNone(text)) return undefined
    const value = Number(text.value)
    if (text.value.trim() === "" || !Number.isFinite(value))
      return yield* usageError(`--${name} must be a number (got ${JSON.stringify(text.value)})`)
    return value
  })
