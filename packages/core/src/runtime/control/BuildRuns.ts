/** Runs a function of any build by hand: of the deployed one, or of one that was never deployed. */
import { Context, Effect, Layer, type Schema } from "effect"
import {
  BadRequest,
  type ContentDamaged,
  type Forbidden,
  type NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable
} from "../../foundation/Errors.ts"
import { EventId, freshIds, StreamId } from "../../foundation/Ids.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import { now } from "../../foundation/time/Timestamp.ts"
import type { SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { makeEntries } from "../../resources/audit/AuditFacts.ts"
import { AuditStore } from "../../resources/audit/AuditStore.ts"
import { Builds } from "../../resources/builds/Builds.ts"
import type { Match } from "../../resources/builds/Deployments.ts"
import { type Caller, requirePermission } from "../../tenants/access/Caller.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import type { Event } from "../events/Event.ts"
import { EventLog } from "../events/EventLog.ts"
import { admitDelivery } from "./admitDelivery.ts"
import { checkWait, makeAwaitRun } from "./awaitRun.ts"
import type { Called } from "./Calls.ts"

export interface NewBuildRun {
  /** `ns/var` of the build. */
  readonly fn: string
  readonly args?: ReadonlyArray<Schema.Json>
  /** Seconds to wait for the end, 0 to 300; 0 by default. */
  readonly wait?: number
}

type BuildRunError =
  | Forbidden
  | BadRequest
  | PlanRequired
  | RateLimited
  | NotFound
  | ContentDamaged
  | SandboxUnavailable
  | StoreUnavailable

export class BuildRuns extends Context.Service<
  BuildRuns,
  {
    /**
     * Starts a run of the type `run`, durably, as `Calls.call` does. Requires `build: execute` on the project and
     * `call: create` on the function. `BadRequest` if the build has no such function.
     */
    readonly run: (project: string, buildId: string, input: NewBuildRun) => Effect.Effect<Called, BuildRunError, Caller>
  }
>()("@weft/core/runtime/control/BuildRuns") {
  static readonly layer = Layer.effect(
    BuildRuns,
    Effect.gen(function* () {
      const builds = yield* Builds
      const quotas = yield* Quotas
      const log = yield* EventLog
      const audit = yield* AuditStore
      const entries = yield* makeEntries
      const fresh = yield* freshIds
      const awaitRun = yield* makeAwaitRun

      const findMatch = Effect.fnUntraced(function* (project: string, buildId: string, fn: string) {
        yield* requirePermission("call", [], "create")
        const { build, manifest } = yield* builds.executable(project, buildId)
        yield* requirePermission("call", [fn, `${build.project_name}:${fn}`], "create")
        const handler = manifest.functions.find((each) => `${each.ns}/${each.var}` === fn)
        if (handler === undefined)
          return yield* new BadRequest({ reason: "fn: the build has no function of this name" })
        return { build, handler, run_type: "run" } satisfies Match
      })

      const makeEvent = Effect.fnUntraced(function* ({ build: { env_id } }: Match, { fn, args = [] }: NewBuildRun) {
        const instant = yield* now
        return {
          event_id: yield* fresh(EventId),
          env_id,
          stream_id: yield* fresh(StreamId),
          event_type: "svc:call",
          event_data: toJsonText({ fn, args: [...args] }),
          event_time: instant,
          created_at: instant
        } satisfies Event
      })

      return BuildRuns.of({
        run: Effect.fnUntraced(function* (project, buildId, input) {
          const match = yield* findMatch(project, buildId, input.fn)
          const { wait = 0 } = input
          yield* checkWait(wait)
          yield* admitDelivery(quotas, match.build.env_id, match.handler)
          const event = yield* makeEvent(match, input)
          const toEntry = yield* entries
          const { build, handler } = match
          // Before the run, so that no run by hand is without an entry.
          yield* audit.append([
            toEntry({
              action: "build.run",
              object_id: build.build_id,
              object_name: `${build.project_name}:${input.fn}`,
              details: { event_id: event.event_id }
            })
          ])
          yield* log.append({
            event,
            matches: [match],
            cause: { run_id: null, depth: 0 },
            beginsStream: true,
            request: null
          })
          return { event, run: yield* awaitRun(event, handler.retry.attempts, wait) }
        })
      })
    })
  )
}
