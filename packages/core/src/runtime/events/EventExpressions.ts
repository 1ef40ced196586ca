/**
 * Evaluates the expressions of functions for events: which events a handler gets, and the keys of its flow control.
 *
 * Each expression is compiled once. An expression without a value is counted, and logged once a minute for each function: its
 * condition is false, and its key is null.
 */
import { Clock, Context, Effect, Layer, Result } from "effect"
import { fromJsonText } from "../../foundation/JsonText.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import type { CanarySubject } from "../../resources/builds/Canary.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { type Expression, type ExpressionInput, loadExpression } from "../../resources/builds/Expression.ts"
import type { Event } from "./Event.ts"

/** Maximum compiled expressions and logged functions in memory. */
const cacheMax = 10_000

/** Interval of log entries about one function in milliseconds. */
const logIntervalMs = 60_000

export class EventExpressions extends Context.Service<
  EventExpressions,
  {
    /** Returns the matches whose conditions are true for the event. */
    readonly select: (event: Event, matches: ReadonlyArray<Match>) => Effect.Effect<ReadonlyArray<Match>>
    /** Returns the value of a key as JSON text, different for different values; null without a value, or for null. */
    readonly readKey: (event: Event, match: Match, expression: string) => Effect.Effect<string | null>
    /** Returns the value of a priority; 0 without a number. */
    readonly readNumber: (event: Event, match: Match, expression: string) => Effect.Effect<number>
  }
>()("@weft/core/runtime/events/EventExpressions") {
  static readonly layer: Layer.Layer<EventExpressions, never, NodeMetrics> = Layer.effect(
    EventExpressions,
    Effect.gen(function* () {
      const metrics = yield* NodeMetrics
      const compiled = new BoundedMap<string, Expression>(cacheMax)
      /** Time of the last log entry about a function. */
      const logged = new BoundedMap<string, number>(cacheMax)
      const errors = { condition: 0, key: 0, priority: 0 }

      metrics.register(
        Effect.sync(() =>
          (["condition", "key", "priority"] as const).map((kind) => ({
            type: "counter",
            name: "weft_expression_errors_total",
            help: "Expressions in the meta of functions that had no value for an event",
            labels: { kind },
            value: errors[kind]
          }))
        )
      )

      const compile = (text: string, wanted: "bool" | "any"): Expression =>
        compiled.get(`${wanted} ${text}`, () => loadExpression(text, wanted))

      const report = Effect.fnUntraced(function* (
        kind: keyof typeof errors,
        { env_id, event_id }: Event,
        { build, handler }: Match,
        reason: string
      ) {
        errors[kind]++
        const name = `${build.project_name}:${handler.ns}/${handler.var}`
        const now = yield* Clock.currentTimeMillis
        const key = `${env_id} ${name}`
        if (now - logged.get(key, () => Number.NEGATIVE_INFINITY) < logIntervalMs) return
        logged.set(key, now)
        yield* Effect.logWarning(
          `A ${kind} of ${name} in environment ${env_id} has no value for event ${event_id}: ${reason}`
        )
      })

      const isSelected = Effect.fnUntraced(function* (event: Event, input: ExpressionInput, match: Match) {
        if (match.condition === undefined) return true
        const value = compile(match.condition, "bool").evaluate(input)
        if (Result.isSuccess(value) && typeof value.success === "boolean") return value.success
        yield* report("condition", event, match, Result.isFailure(value) ? value.failure : "it is not true or false")
        return false
      })

      return EventExpressions.of({
        select: (event, matches) => {
          if (matches.every(({ condition }) => condition === undefined)) return Effect.succeed(matches)
          const input = toInput(event)
          return Effect.filter(matches, (match) => isSelected(event, input, match))
        },

        readKey: Effect.fnUntraced(function* (event, match, expression) {
          const value = compile(expression, "any").evaluate(toInput(event))
          if (Result.isSuccess(value)) return toKey(value.success)
          yield* report("key", event, match, value.failure)
          return null
        }),

        readNumber: Effect.fnUntraced(function* (event, match, expression) {
          const value = compile(expression, "any").evaluate(toInput(event))
          const number = Result.isSuccess(value) ? toNumber(value.success) : null
          if (number !== null) return number
          yield* report("priority", event, match, Result.isFailure(value) ? value.failure : "it is not a number")
          return 0
        })
      })
    })
  )
}

/** Returns what assigns an event to a side of a canary. */
export const toSubject = (event: Event): CanarySubject => ({ id: event.event_id, input: () => toInput(event) })

const toInput = ({ event_id, event_type, stream_id, event_data }: Event): ExpressionInput => ({
  id: event_id,
  type: event_type,
  stream_id,
  data: fromJsonText(event_data)
})

const toKey = (value: unknown): string | null =>
  value === null ? null : typeof value === "bigint" ? String(value) : JSON.stringify(value)

const toNumber = (value: unknown): number | null => {
  const number = typeof value === "bigint" ? Number(value) : value
  return typeof number === "number" && Number.isFinite(number) ? number : null
}

/** A map that forgets all of its entries when it is full. */
class BoundedMap<Key, Value> {
  readonly #max: number
  #entries = new Map<Key, Value>()

  constructor(max: number) {
    this.#max = max
  }

  /** Returns the value of the key. Makes and keeps a missing one. */
  get(key: Key, make: () => Value): Value {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.#max) this.#entries = new Map()
    this.#entries.set(key, value)
  }
}
