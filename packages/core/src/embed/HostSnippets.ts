/** Evaluation of snippets for hosts without Effect. */
import { Effect } from "effect"
import type { EnvId } from "../foundation/Ids.ts"
import { inHostSpan } from "../foundation/telemetry/HostSpan.ts"
import { type NewSnippet, Snippets } from "../runtime/evaluation/Snippets.ts"

/** An `AbortSignal`, whose type core does not have. */
export interface SnippetSignal {
  readonly aborted: boolean
  readonly reason: unknown
  readonly addEventListener: (type: "abort", listener: () => void) => void
  readonly removeEventListener: (type: "abort", listener: () => void) => void
}

/** Runs a snippet until its end or until the signal aborts. */
export const hostEvaluate = (envId: EnvId, snippet: NewSnippet, signal?: SnippetSignal) => {
  const evaluated = inHostSpan(Snippets.use((snippets) => snippets.evaluate(envId, snippet)))
  return signal === undefined ? evaluated : Effect.raceFirst(evaluated, abortion(signal))
}

/** Dies with the reason of the signal when it aborts, so that a promise rejects with it. */
const abortion = (signal: SnippetSignal): Effect.Effect<never> =>
  Effect.callback((resume) => {
    const abort = () => resume(Effect.die(signal.reason))
    if (signal.aborted) return abort()
    signal.addEventListener("abort", abort)
    return Effect.sync(() => signal.removeEventListener("abort", abort))
  })
