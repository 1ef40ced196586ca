/**
 * Runs source text that was never deployed, once, as a run of the type `eval`.
 *
 * The code has exactly the rights of its caller. The source is neither stored nor logged; the log and the audit log have
 * its hash.
 */
import { Context, Effect, Layer, type Schema } from "effect"
import type {
  BadRequest,
  ContentDamaged,
  Forbidden,
  NotFound,
  PlanRequired,
  StoreUnavailable
} from "../../foundation/Errors.ts"
import { type EnvId, ProjectId } from "../../foundation/Ids.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import type { BundleRef, SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { Sources } from "../../resources/builds/Sources.ts"
import { type Caller, callerJson, requirePermission } from "../../tenants/access/Caller.ts"
import { Plans } from "../../tenants/orgs/Plans.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { maskLine } from "../execution/maskLog.ts"
import type { RunEnd } from "../execution/RunRecorder.ts"
import type { SourceRun } from "../execution/SourceRun.ts"
import { SynchronousRuns } from "../execution/SynchronousRuns.ts"
import type { RunBuild } from "../runs/Attempt.ts"
import type { LogEntry } from "../runs/Run.ts"
import { checkSource, checkTimeout, timeoutDefault } from "./SourceLimits.ts"

export interface NewEvaluation {
  /** TypeScript or JavaScript: an expression, the body of an async function, or a module with a default export. */
  readonly source: string
  readonly args?: ReadonlyArray<Schema.Json>
  /** Project of the build; without it the source has no build. */
  readonly project?: string
  /** Id of the build, or `deployed`, which is the default. */
  readonly build_id?: string
  /** Wall time in seconds, above 0 and at most 60; 30 by default. */
  readonly timeout?: number
}

/** Parts of an evaluation for callers within this process. */
export interface EvaluationHooks extends Pick<SourceRun, "gate"> {
  /** Called for each log entry of the code, with secrets masked. */
  readonly onLog?: (entry: LogEntry) => void
}

export type EvaluationError =
  | Forbidden
  | BadRequest
  | PlanRequired
  | NotFound
  | ContentDamaged
  | SandboxUnavailable
  | StoreUnavailable

/** Project of runs without a build. No project has this id. */
const noProject = ProjectId.make("00000000-0000-0000-0000-000000000000")

export class Evaluations extends Context.Service<
  Evaluations,
  {
    /**
     * Runs the source to its end, whatever its outcome, and returns the run with its log. Interruption cancels it. Requires
     * `eval: execute`, and for a build `build: create` and `build: execute` on its project. `PlanRequired` if the plan
     * allows no evaluations, or if its runs are used up.
     */
    readonly evaluate: (input: NewEvaluation, hooks?: EvaluationHooks) => Effect.Effect<RunEnd, EvaluationError, Caller>
  }
>()("@weft/core/runtime/evaluation/Evaluations") {
  static readonly layer = Layer.effect(
    Evaluations,
    Effect.gen(function* () {
      const sources = yield* Sources
      const plans = yield* Plans
      const quotas = yield* Quotas
      const runs = yield* SynchronousRuns
      const audit = yield* AuditStore
      const entries = yield* makeEntries

      const admit = Effect.fnUntraced(function* (envId: EnvId, bytes: number) {
        const { plan } = yield* plans.of(envId)
        yield* checkSource(plan, bytes)
        yield* quotas.admit(envId, 1)
      })

      return Evaluations.of({
        evaluate: Effect.fnUntraced(function* (input, { gate, onLog } = {}) {
          const caller = yield* requirePermission("eval", "*", "execute")
          const { source: text, args = [], project, build_id = "deployed", timeout = timeoutDefault } = input
          yield* checkTimeout(timeout)
          const bytes = utf8Length(text)
          const build = project === undefined ? null : yield* sources.context(project, build_id)
          yield* admit(caller.env_id, bytes)
          const compiled = yield* sources.compile({ env_id: caller.env_id, text, build })
          const facts = { source_sha256: compiled.hash, bytes }
          const toEntry = yield* entries
          // Before the run, so that no evaluation is without an entry.
          yield* audit.append([
            toEntry({
              action: "eval.run",
              details: { ...facts, ...(build === null ? {} : { build_id: build.build_id }) }
            })
          ])
          const { ended } = yield* runs.run({
            build: build ?? toRunBuild(caller.env_id, compiled.bundle),
            fn: { ns: "main", var: "default", timeout_ms: Math.ceil(timeout * 1000), record: "before" },
            trigger: "args",
            facts: `{"args":${JSON.stringify(args)},"caller":${callerJson(caller)}}`,
            body: null,
            caller,
            request: { message: "evaluation", data: toJsonText(facts) },
            source: {
              run_type: "eval",
              bundle: compiled.bundle,
              rights: caller,
              ...(gate === undefined ? {} : { gate }),
              ...(onLog === undefined ? {} : { onLog: (entry, secrets) => onLog(maskLine(entry, secrets)) })
            }
          })
          return ended()
        })
      })
    })
  )
}

/** Returns the build of a run without one: its id derives from the source. */
export const toRunBuild = (env_id: EnvId, bundle: BundleRef): RunBuild => ({
  env_id,
  project_id: noProject,
  project_name: "",
  build_id: bundle.build_id
})
