/** Calls of the program of a session that are no runs: their code has no rights, no log and no record. */
import { Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { RunId } from "../../foundation/Ids.ts"
import {
  type BundleRef,
  hostCallRefused,
  type Sandbox,
  SandboxUnavailable,
  sessionNamespace
} from "../../platform/sandbox/Sandbox.ts"
import { type Completion, toCompletion } from "./ReplSession.ts"

/** Maximum time to load the program and the build of a session, and to complete a name, in milliseconds. */
const openMs = 10_000
const completeMs = 1_000

type ProgramError = SandboxUnavailable | NotFound | StoreUnavailable

export class ReplProgram {
  readonly #sandbox: Sandbox["Service"]
  readonly #freshRun: () => RunId

  constructor(sandbox: Sandbox["Service"], fresh: (schema: typeof RunId) => RunId) {
    this.#sandbox = sandbox
    this.#freshRun = () => fresh(RunId)
  }

  /** Creates the isolate of a session, and opens the session in it. */
  open(bundle: BundleRef): Effect.Effect<void, ProgramError> {
    return Effect.flatMap(this.#call(bundle, "open", [], openMs), ({ outcome }) => {
      if (outcome._tag === "Returned") return Effect.void
      const why = outcome._tag === "Threw" ? outcome.message : outcome._tag
      return Effect.fail(new SandboxUnavailable({ reason: `the session did not start: ${why}` }))
    })
  }

  /** Returns the names for the text before the cursor, or null if the session is lost. */
  complete(bundle: BundleRef, source: string, cursor: number): Effect.Effect<Completion | null, ProgramError> {
    return Effect.map(this.#call(bundle, "complete", [source, cursor], completeMs), ({ outcome }) =>
      toCompletion(outcome)
    )
  }

  #call(bundle: BundleRef, name: string, args: ReadonlyArray<unknown>, timeoutMs: number) {
    return this.#sandbox.invoke({
      run_id: this.#freshRun(),
      bundle,
      fn: { ns: sessionNamespace, var: name },
      svc: `{"run":{},"args":${JSON.stringify(args)}}`,
      trigger: "args",
      timeoutMs,
      onHostCall: () => Effect.fail(hostCallRefused("NotAllowed", "No calls are allowed here")),
      onLog: () => undefined
    })
  }
}
