/** Inputs of sessions, as runs of the type `repl`. */
import { Effect } from "effect"
import { toJsonText } from "../../foundation/JsonText.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import { sessionNamespace } from "../../platform/sandbox/Sandbox.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { Sources } from "../../resources/builds/Sources.ts"
import { callerJson, type Identity } from "../../tenants/access/Caller.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { maskLine } from "../execution/maskLog.ts"
import type { RunEnd } from "../execution/RunRecorder.ts"
import { SynchronousRuns } from "../execution/SynchronousRuns.ts"
import { type EvaluationHooks, toRunBuild } from "./Evaluations.ts"
import { type InputEnd, type ReplSession, toInputEnd } from "./ReplSession.ts"
import { checkSource, checkTimeout, timeoutDefault } from "./SourceLimits.ts"

export interface ReplInput {
  /** Statements and expressions of TypeScript or JavaScript, with `await` at the top level. */
  readonly source: string
  /** Wall time in seconds, above 0 and at most 60; 30 by default. */
  readonly timeout?: number
}

/** The run of an input at its end. */
export interface ReplEnd extends RunEnd, Pick<InputEnd, "text" | "ended"> {}

/** Returns a function that runs an input of a session to its end. The caller of the function ends a lost session. */
export const makeReplInputs = Effect.gen(function* () {
  const sources = yield* Sources
  const plans = yield* Plans
  const quotas = yield* Quotas
  const runs = yield* SynchronousRuns
  const audit = yield* AuditStore
  const entries = yield* makeEntries

  return Effect.fnUntraced(function* (
    session: ReplSession,
    caller: Identity,
    { source, timeout = timeoutDefault }: ReplInput,
    onLog: EvaluationHooks["onLog"]
  ) {
    yield* checkTimeout(timeout)
    const bytes = utf8Length(source)
    const { plan } = yield* plans.of(caller.env_id)
    yield* checkSource(plan, bytes)
    const { hash, script } = yield* sources.input(caller.env_id, source)
    yield* quotas.admit(caller.env_id, 1)
    const facts = { repl_id: session.id, source_sha256: hash, bytes }
    const toEntry = yield* entries
    // Before the run, so that no input is without an entry.
    yield* audit.append([toEntry({ action: "repl.input", details: facts })])
    session.inputs++
    let end: InputEnd | null = null
    const result = yield* runs.run({
      build: session.build ?? toRunBuild(caller.env_id, session.bundle),
      fn: { ns: sessionNamespace, var: "input", timeout_ms: Math.ceil(timeout * 1000), record: "before" },
      trigger: "args",
      facts: `{"args":${JSON.stringify([session.inputs, script])},"caller":${callerJson(caller)}}`,
      body: null,
      caller,
      request: { message: "input", data: toJsonText(facts) },
      source: {
        run_type: "repl",
        bundle: session.bundle,
        rights: caller,
        toOutcome: (outcome) => {
          end = toInputEnd(outcome)
          return end.outcome
        },
        ...(onLog === undefined ? {} : { onLog: (entry, secrets) => onLog(maskLine(entry, secrets)) })
      }
    })
    return { ...result.ended(), ...toParts(end) } satisfies ReplEnd
  })
})

/** Returns the parts of an end for its caller. A run that was stopped in the store has none. */
const toParts = (end: InputEnd | null): Pick<InputEnd, "text" | "ended"> => ({
  text: end?.text ?? "",
  ended: end?.ended ?? null
})
