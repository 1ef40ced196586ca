/**
 * Runs snippets for the host: formulas, templates and generated code of its customers, many times a second.
 *
 * - Code has no rights but those of its capabilities, and no secrets.
 * - The isolate of a source stays warm. It is shared by evaluations of the same source with the same capabilities in the same
 *   environment, and by no others. Globals that the code sets are therefore visible to its later evaluations.
 * - A run counts in the usage. It is stored only if the host wants that, or if the plan demands records.
 */
import { Context, Effect, Layer, type Schema } from "effect"
import {
  BadRequest,
  type ContentDamaged,
  type NotFound,
  type PlanRequired,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { utf8Length } from "../../foundation/Utf8.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import type { SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { Sources } from "../../resources/builds/Sources.ts"
import { hostIdentity, type Identity } from "../../tenants/access/Caller.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { RunEnd } from "../execution/RunRecorder.ts"
import { SynchronousRuns } from "../execution/SynchronousRuns.ts"
import {
  type Capabilities,
  describeCapabilities,
  findCapabilityFault,
  makeGate,
  toPermissions
} from "./Capabilities.ts"
import { toRunBuild } from "./Evaluations.ts"
import { sourceBytesMax } from "./SourceLimits.ts"

export interface NewSnippet {
  /** As in `NewEvaluation`. */
  readonly source: string
  readonly args?: ReadonlyArray<Schema.Json>
  /** None by default. */
  readonly capabilities?: Capabilities
  /** Wall time in milliseconds, 1 to 60,000; 1,000 by default. */
  readonly timeoutMs?: number
  /** True to store the run with its log; false by default. */
  readonly record?: boolean
}

export interface SnippetEnd extends RunEnd {
  readonly outcome: Outcome
}

type SnippetError = BadRequest | PlanRequired | NotFound | ContentDamaged | SandboxUnavailable | StoreUnavailable

const timeoutMsDefault = 1_000
const timeoutMsMax = 60_000

export class Snippets extends Context.Service<
  Snippets,
  {
    /** Runs the snippet to its end, whatever its outcome. Interruption cancels it. */
    readonly evaluate: (envId: EnvId, snippet: NewSnippet) => Effect.Effect<SnippetEnd, SnippetError>
  }
>()("@weft/core/runtime/evaluation/Snippets") {
  static readonly layer = Layer.effect(
    Snippets,
    Effect.gen(function* () {
      const sources = yield* Sources
      const quotas = yield* Quotas
      const runs = yield* SynchronousRuns

      return Snippets.of({
        evaluate: Effect.fnUntraced(function* (env_id, snippet) {
          const { source: text, args = [], capabilities = {}, timeoutMs = timeoutMsDefault, record = false } = snippet
          const fault = findFault(text, timeoutMs) ?? findCapabilityFault(capabilities)
          if (fault !== null) return yield* new BadRequest({ reason: fault })
          const variant = describeCapabilities(capabilities)
          const compiled = yield* sources.compileOnce({ env_id, text, build: null, variant })
          // Directly before the run: whether it is recorded depends on the plan that this reads.
          yield* quotas.admit(env_id, 1)
          const rights: Identity = { ...hostIdentity(env_id), permissions: toPermissions(capabilities) }
          const { outcome, ended } = yield* runs.run({
            build: toRunBuild(env_id, compiled.bundle),
            fn: { ns: "main", var: "default", timeout_ms: timeoutMs, record: record ? "before" : "none" },
            trigger: "args",
            facts: `{"args":${JSON.stringify(args)},"caller":null}`,
            body: null,
            caller: null,
            request: { message: "evaluation", data: toJsonText({ source_sha256: compiled.hash }) },
            source: { run_type: "eval", bundle: compiled.bundle, rights, gate: makeGate(capabilities) }
          })
          return { ...ended(), outcome }
        })
      })
    })
  )
}

const findFault = (text: string, timeoutMs: number): string | null => {
  if (!(timeoutMs >= 1 && timeoutMs <= timeoutMsMax))
    return `limits.timeoutMs must be 1 to ${timeoutMsMax} (got ${timeoutMs})`
  const bytes = utf8Length(text)
  return bytes <= sourceBytesMax ? null : `source has ${bytes} bytes, and at most ${sourceBytesMax} are allowed`
}
