/** Spans of a run and of its host calls. They contain names, never input or output of a guest. */
import { Effect, Exit, References, type Tracer } from "effect"
import { type SpanEnd, type SpanStart, toSpanEnd, traced } from "../../foundation/telemetry/Spans.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import type { HostCall, HostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import type { Run } from "../runs/Run.ts"
import type { SpanKind } from "../svc/Operation.ts"
import { operations } from "../svc/operations.ts"
import type { Executed } from "./Executor.ts"

/** Maximum host calls of one run with a span, because a guest may make any number of calls. */
const callSpansMax = 100

const spanKinds: ReadonlyMap<string, SpanKind> = new Map(operations.map(({ name, span }) => [name, span]))

/** Form of known operations. A guest may request an unknown one by any name. */
const operationForm = /^[a-z]{1,20}(\.[A-Za-z0-9_.-]{1,100})?$/

/** Executes the run in a span, whose parent is the span of the webhook's request or of the event's publication. */
export const tracedRun = <E, R>(run: Run, executed: Effect.Effect<Executed, E, R>): Effect.Effect<Executed, E, R> =>
  traced(executed, () => buildRunSpan(run), endRunSpan)

const buildRunSpan = (run: Run): SpanStart => ({
  name: `run ${run.ns}/${run.var}`,
  kind: run.event_id === null ? "internal" : "consumer",
  attributes: {
    "weft.run_id": run.run_id,
    "weft.function": `${run.ns}/${run.var}`,
    "weft.run_type": run.run_type,
    "weft.attempt": run.attempt,
    "weft.env_id": run.env_id,
    "weft.project": run.project_name,
    "weft.build_id": run.build_id,
    ...(run.origin_run_id === null ? {} : { "weft.origin_run_id": run.origin_run_id }),
    ...(run.event_id === null ? {} : consumerAttributes(run.event_id))
  }
})

const consumerAttributes = (eventId: string) => ({
  "messaging.system": "weft",
  "messaging.operation.type": "process",
  "messaging.message.id": eventId
})

const endRunSpan = (exit: Exit.Exit<Executed, unknown>, span: Tracer.Span): SpanEnd => {
  if (Exit.isFailure(exit)) {
    const end = toSpanEnd(exit)
    if (end === "interrupted") span.attribute("weft.outcome", "Cancelled")
    return end
  }
  const { outcome, usage } = exit.value.execution
  span.attribute("weft.outcome", outcome._tag)
  span.attribute("weft.cpu_ms", usage.cpu_ms)
  switch (outcome._tag) {
    case "Returned":
    case "Responded":
      return "ok"
    case "Cancelled":
      return "interrupted"
    default:
      return { fault: nameFault(outcome) }
  }
}

/** Form of error names in spans. Guests and hosts may choose any name, with any content. */
const nameForm = /^[A-Z][A-Za-z0-9]{0,63}$/

const nameFault = (outcome: Outcome): string =>
  outcome._tag === "Threw" && nameForm.test(outcome.name) ? outcome.name : outcome._tag

type HostCallEffect = Effect.Effect<string, HostCallRefused>

/** Returns a function that wraps each host call of one run in a span. */
export const callSpans = (): ((call: HostCall, answer: HostCallEffect) => HostCallEffect) => {
  let count = 0
  return ({ op }, answer) => {
    // A guest may request any name, and the names of host functions are up to the host.
    const kind = spanKinds.get(op) ?? "internal"
    if (kind === "none" || count === callSpansMax) return answer
    count++
    // Spans inside a host function are up to the host.
    const traceable = op.startsWith("host.") ? Effect.provideService(answer, References.TracerEnabled, true) : answer
    return traced(
      traceable,
      () => ({
        name: `svc.${operationForm.test(op) ? op : "unknown"}`,
        kind,
        attributes: {}
      }),
      endCallSpan
    )
  }
}

const endCallSpan = (exit: Exit.Exit<string, HostCallRefused>): SpanEnd => {
  if (Exit.isSuccess(exit)) return "ok"
  const refused = exit.cause.reasons.find((one) => one._tag === "Fail")
  if (refused === undefined) return toSpanEnd(exit)
  return { fault: nameForm.test(refused.error.name) ? refused.error.name : refused.error._tag }
}
