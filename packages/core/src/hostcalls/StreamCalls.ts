/**
 * The host call behind the guest's `svc.stream.emit`: `stream.emit` with `data_type` and `payload`, answered by null.
 *
 * What a run emits is told to those who watch its stream now, and stored nowhere.
 */
import { Clock, Effect, Schema } from "effect"
import { Feed } from "../activity/Feed.ts"
import { toJsonText } from "../ids/JsonText.ts"
import { utf8Length } from "../ids/Utf8.ts"
import { runFactsOf } from "../journal/Journal.ts"
import type { Run } from "../runs/Run.ts"
import { type HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"

/** Bytes of a payload as JSON. */
const payloadMax = 64 * 1024

/** Messages that a run may emit at once, and from then on in a second: half of what one who watches may be behind. */
const atOnceMax = 500
const perSecond = 500

const Emitted = Schema.fromJsonString(
  Schema.Struct({
    data_type: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(256)),
    payload: Schema.Json
  })
)

export interface StreamCalls {
  /** Answers `stream.emit`; null for any other operation. */
  readonly answer: (run: Run, call: HostCall) => Effect.Effect<string, HostCallRefused> | null
}

interface Allowance {
  left: number
  /** Epoch milliseconds of the last time that it grew. */
  at: number
}

export const makeStreamCalls: Effect.Effect<StreamCalls, never, Feed> = Effect.gen(function* () {
  const feed = yield* Feed
  const clock = yield* Clock.Clock
  const decode = Schema.decodeUnknownEffect(Emitted)
  const allowances = new WeakMap<Run, Allowance>()

  const mayEmit = (run: Run): boolean => {
    const now = clock.currentTimeMillisUnsafe()
    const allowance = allowances.get(run) ?? { left: atOnceMax, at: now }
    allowances.set(run, allowance)
    allowance.left = Math.min(atOnceMax, allowance.left + ((now - allowance.at) * perSecond) / 1000)
    allowance.at = now
    if (allowance.left < 1) return false
    allowance.left--
    return true
  }

  const emit = Effect.fnUntraced(function* (run: Run, call: HostCall) {
    const { data_type, payload } = yield* Effect.mapError(decode(call.payload), ({ message }) =>
      refusal("BadRequest", `svc.stream.emit: ${message}`)
    )
    const text = toJsonText(payload)
    if (utf8Length(text) > payloadMax) {
      return yield* refusal("LimitExceeded", `svc.stream.emit takes at most ${payloadMax} bytes of JSON`)
    }
    if (!mayEmit(run)) {
      return yield* refusal("LimitExceeded", `A run may emit ${perSecond} messages in a second`)
    }
    yield* feed.publish([{ type: "stream:data", ...runFactsOf(run), data_type, payload: text }])
    return "null"
  })

  return { answer: (run, call) => (call.op === "stream.emit" ? emit(run, call) : null) }
})

const refusal = (name: string, message: string): HostCallRefused => new HostCallRefused({ name, message })
