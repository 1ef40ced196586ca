/** Keys of deliveries, from a function's `meta` (decisions 5.1): groups, idempotency and flow control. */
import { Effect } from "effect"
import { Digest } from "effect/crypto"
import { utf8Encode, utf8Length } from "../../foundation/Utf8.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { type FlowControl, prioritySecondsMax } from "../../resources/builds/FlowControl.ts"
import type { Event } from "../events/Event.ts"
import { EventExpressions } from "../events/EventExpressions.ts"
import { fieldAt, fieldText } from "../events/EventField.ts"
import type { Delivery } from "./Delivery.ts"
import type { FlowRule } from "./FlowRules.ts"

/** Maximum characters of a key. Longer ones are hashed: keys are stored per delivery, and event data may be large. */
const keyLengthMax = 200

/** Conditions on the start of a delivery, which only a claim can decide, and the key by which events cancel it. */
export type StartTerms = Pick<Delivery, "ttl_ms" | "throttle" | "cancel_key">

export interface DeliveryKeys {
  /** Returns the group whose runs share the function's concurrency limit; null without a limit. */
  readonly group: (event: Event, match: Match) => Effect.Effect<Delivery["group"]>
  /** Returns the function's idempotency key for the event, equal for equal values; null without idempotency. */
  readonly onceKey: (event: Event, match: Match) => Effect.Effect<string | null>
  /** Returns the time by which the function's first run starts ahead of others, in milliseconds. */
  readonly priorityMs: (event: Event, match: Match) => Effect.Effect<number>
  /** Returns the conditions on the start of the function's runs; none without flow control. */
  readonly startTerms: (event: Event, match: Match) => Effect.Effect<StartTerms>
  /** Returns the key of deliveries and runs of the function that the event cancels; null if it cancels none. */
  readonly cancelKey: (event: Event, match: Match) => Effect.Effect<string | null>
  /** Returns the rules that decide whether the function gets the event; none without flow control. */
  readonly rules: (event: Event, match: Match) => Effect.Effect<ReadonlyArray<FlowRule>>
}

export const makeDeliveryKeys: Effect.Effect<DeliveryKeys, never, Digest.Digest | EventExpressions> = Effect.gen(
  function* () {
    const digest = yield* Digest.Digest
    const expressions = yield* EventExpressions

    const bounded = (key: string) =>
      key.length <= keyLengthMax
        ? Effect.succeed(key)
        : Effect.map(digest.digestHex(Digest.sha256, utf8Encode(key)), (hash) => `sha256:${hash}`)

    /** Returns the key of a control: of the function, or of the value of an expression. */
    const keyOf = Effect.fnUntraced(function* (control: string, event: Event, match: Match, expression: string | null) {
      const name = `${control}:${formatName(match)}`
      if (expression === null) return yield* bounded(name)
      return yield* bounded(`${name}#${(yield* expressions.readKey(event, match, expression)) ?? "null"}`)
    })

    const cancelKey = Effect.fnUntraced(function* (event: Event, match: Match) {
      const cancelOn = match.handler.flow?.cancel_on
      const value = cancelOn === undefined ? null : yield* expressions.readKey(event, match, cancelOn.match)
      return value === null ? null : yield* bounded(`${formatName(match)}#${value}`)
    })

    const startTerms = Effect.fnUntraced(function* (event: Event, match: Match, { ttl_ms, throttle }: FlowControl) {
      const cancel_key = yield* cancelKey(event, match)
      return {
        ...(cancel_key === null ? {} : { cancel_key }),
        // A replay is wanted now, however old its event is.
        ...(ttl_ms === undefined || match.run_type === "run" ? {} : { ttl_ms }),
        ...(throttle === undefined
          ? {}
          : {
              throttle: {
                key: yield* keyOf("throttle", event, match, throttle.key),
                limit: throttle.limit,
                period_ms: throttle.period_ms
              }
            })
      }
    })

    const dedupeRules = Effect.fnUntraced(function* (event: Event, match: Match, dedupe: FlowControl["dedupe"]) {
      if (dedupe === undefined) return noRules
      // As with `idempotency`, an event without a value is always handled.
      const value = yield* expressions.readKey(event, match, dedupe.key)
      if (value === null) return noRules
      const key = yield* bounded(`dedupe:${formatName(match)}#${value}`)
      return [{ _tag: "Dedupe", key, window_ms: dedupe.window_ms }] satisfies ReadonlyArray<FlowRule>
    })

    const rules = Effect.fnUntraced(function* (event: Event, match: Match, flow: FlowControl) {
      const { singleton, rate_limit, debounce } = flow
      const all: Array<FlowRule> = [...(yield* dedupeRules(event, match, flow.dedupe))]
      if (singleton !== undefined && singleton.mode === undefined) all.push({ _tag: "Singleton" })
      if (rate_limit !== undefined) {
        const { limit, period_ms } = rate_limit
        all.push({ _tag: "RateLimit", key: yield* keyOf("rate", event, match, rate_limit.key), limit, period_ms })
      }
      if (debounce !== undefined) {
        const { period_ms, max_ms } = debounce
        all.push({ _tag: "Debounce", key: yield* keyOf("debounce", event, match, debounce.key), period_ms, max_ms })
      }
      if (singleton?.mode === "cancel") all.push({ _tag: "Replace" })
      // A call by name has arguments of its own.
      if (flow.batch !== undefined && match.run_type === "event") {
        const { size, timeout_ms, key: expression } = flow.batch
        // A batch ends on the build for which it began.
        const key = yield* keyOf(`batch:${match.build.build_id}`, event, match, expression)
        all.push({ _tag: "Batch", key, size, timeout_ms, bytes: utf8Length(event.event_data) })
      }
      return all
    })

    return {
      group: (event, match) => {
        const { concurrency, flow } = match.handler
        if (flow?.singleton !== undefined) {
          return Effect.map(keyOf("singleton", event, match, flow.singleton.key), (key) => ({ key, limit: 1 }))
        }
        if (concurrency === null) return noGroup
        const { limit, key } = concurrency
        const name = concurrency.name === undefined ? formatName(match) : formatShared(match, concurrency.name)
        return key === null
          ? Effect.succeed({ key: name, limit })
          : Effect.map(bounded(`${name}#${fieldText(event.event_data, key)}`), (bound) => ({ key: bound, limit }))
      },

      onceKey: (event, match) => {
        const { idempotency } = match.handler
        if (idempotency === null) return noKey
        const value = fieldAt(event.event_data, idempotency) ?? null
        return value === null ? noKey : bounded(`handler:${formatName(match)}#${JSON.stringify(value)}`)
      },

      priorityMs: (event, match) => {
        const priority = match.handler.flow?.priority ?? 0
        return typeof priority === "number"
          ? Effect.succeed(priority * 1000)
          : Effect.map(expressions.readNumber(event, match, priority), toPriorityMs)
      },

      startTerms: (event, match) =>
        match.handler.flow === undefined ? noTerms : startTerms(event, match, match.handler.flow),

      cancelKey,

      rules: (event, match) =>
        match.handler.flow === undefined ? Effect.succeed(noRules) : rules(event, match, match.handler.flow)
    }
  }
)

const toPriorityMs = (seconds: number): number => Math.round(Math.min(Math.max(0, seconds), prioritySecondsMax) * 1000)

const noGroup = Effect.succeed(null)
const noKey = Effect.succeed(null)
const noTerms = Effect.succeed<StartTerms>({})
const noRules: ReadonlyArray<FlowRule> = []

/** Returns the name of a limit that functions of a project share. It differs from all of `formatName`. */
const formatShared = ({ build }: Match, name: string): string => `${build.project_id}:${name}`

const formatName = ({ build, handler }: Match): string => `${build.project_id}/${handler.ns}/${handler.var}`
