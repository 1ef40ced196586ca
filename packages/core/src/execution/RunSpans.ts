/** What tracers are told of a run and of its host calls: names, never what a guest gave or got. */
import { Effect, Exit, References, type Tracer } from "effect"
import type { Run } from "../runs/Run.ts"
import type { Outcome } from "../sandbox/Outcome.ts"
import type { HostCall, HostCallRefused } from "../sandbox/Sandbox.ts"
import { endOf, type SpanEnd, type SpanStart, traced } from "../tracing/Spans.ts"
import type { Executed } from "./Executor.ts"

/** Host calls of one run that have a span: a guest may make as many calls as it likes. */
const callSpansMax = 100

/** Operations of which one call of a function takes any number, each for a piece of some bytes. */
const pieces: ReadonlySet<string> = new Set([
  "content.read",
  "content.cancel",
  "fetch.read",
  "fetch.write",
  "fetch.cancel",
  "files.write",
  "files.cancel"
])

/** A guest may ask for what there is not, by any name. */
const operationForm = /^[a-z]{1,20}(\.[A-Za-z0-9_.-]{1,100})?$/

/** The run in a span of its own, within that of the webhook's request or of the event's publication. */
export const tracedRun = <E, R>(run: Run, executed: Effect.Effect<Executed, E, R>): Effect.Effect<Executed, E, R> =>
  traced(executed, () => runSpan(run), endOfRun)

const runSpan = (run: Run): SpanStart => ({
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
    ...(run.event_id === null ? {} : consumed(run.event_id))
  }
})

const consumed = (eventId: string) => ({
  "messaging.system": "weft",
  "messaging.operation.type": "process",
  "messaging.message.id": eventId
})

const endOfRun = (exit: Exit.Exit<Executed, unknown>, span: Tracer.Span): SpanEnd => {
  if (Exit.isFailure(exit)) {
    const end = endOf(exit)
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
      return { fault: faultOf(outcome) }
  }
}

/** A guest may call its errors what it likes, and put there what it likes; so may a host. */
const nameForm = /^[A-Z][A-Za-z0-9]{0,63}$/

const faultOf = (outcome: Outcome): string =>
  outcome._tag === "Threw" && nameForm.test(outcome.name) ? outcome.name : outcome._tag

type Answer = Effect.Effect<string, HostCallRefused>

/** Gives each host call of one run a span within that of the run. */
export const callSpans = (): ((call: HostCall, answer: Answer) => Answer) => {
  let count = 0
  return ({ op }, answer) => {
    if (pieces.has(op) || count === callSpansMax) return answer
    count++
    // What a host's own function does is the host's to trace.
    const own = op.startsWith("host.") ? Effect.provideService(answer, References.TracerEnabled, true) : answer
    return traced(
      own,
      () => ({
        name: `svc.${operationForm.test(op) ? op : "unknown"}`,
        kind: op === "fetch.send" ? "client" : "internal",
        attributes: {}
      }),
      endOfCall
    )
  }
}

const endOfCall = (exit: Exit.Exit<string, HostCallRefused>): SpanEnd => {
  if (Exit.isSuccess(exit)) return "ok"
  const refused = exit.cause.reasons.find((one) => one._tag === "Fail")
  if (refused === undefined) return endOf(exit)
  return { fault: nameForm.test(refused.error.name) ? refused.error.name : refused.error._tag }
}
