/**
 * Functions as HTTP endpoints (specification, "Webhook routes").
 *
 * The hot path: with warm snapshots it makes no query before the function runs, and one insert, shared with
 * others, before the answer goes out.
 */
import { Cause, Context, Effect, Exit, Layer, Result } from "effect"
import { Base64 } from "effect/encoding"
import type { Identity } from "../access/Caller.ts"
import { Credentials } from "../access/Credentials.ts"
import { allows } from "../access/Permission.ts"
import type { Build } from "../builds/Build.ts"
import { Deployments } from "../builds/Deployments.ts"
import type { Endpoint } from "../builds/Manifest.ts"
import {
  Forbidden,
  FunctionFailed,
  NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../errors/Errors.ts"
import { type EnvId, freshIds, type NodeId, RunId, StreamId } from "../ids/Ids.ts"
import { now as currentTime, type Timestamp } from "../ids/Timestamp.ts"
import { endRun, loseRun } from "../runs/Attempt.ts"
import { Executor } from "../runs/Executor.ts"
import { Journal } from "../runs/Journal.ts"
import { NodeLease } from "../runs/NodeLease.ts"
import type { LogEntry, Run } from "../runs/Run.ts"
import type { Execution, Outcome } from "../sandbox/Outcome.ts"
import type { SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { RateLimits } from "../tenancy/RateLimits.ts"
import { Tenants } from "../tenancy/Tenants.ts"
import type { WebhookAnswer, WebhookCall } from "./WebhookCall.ts"
import { describeRequest } from "./WebhookRequest.ts"

type Refused = RateLimited | NotFound | Unauthorized | Forbidden | PlanRequired | SandboxUnavailable | StoreUnavailable

export class Webhooks extends Context.Service<
  Webhooks,
  {
    /**
     * Runs the endpoint's function and returns what it answers; its run is stored by then. A function that fails,
     * for whatever reason, is `FunctionFailed`. Interruption (the client went away) cancels the run.
     */
    readonly handle: (call: WebhookCall) => Effect.Effect<WebhookAnswer, Refused | FunctionFailed>
  }
>()("@weft/core/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const rates = yield* RateLimits
      const quotas = yield* Quotas
      const credentials = yield* Credentials
      const deployments = yield* Deployments
      const executor = yield* Executor
      const journal = yield* Journal
      const { nodeId } = yield* NodeLease
      const fresh = yield* freshIds

      /** Who calls an endpoint with `auth: required`; null where nobody needs to. */
      const authenticate = Effect.fnUntraced(function* (call: WebhookCall, endpoint: Endpoint, envId: EnvId) {
        if (endpoint.auth === "none") return null
        if (call.token === null) return yield* new Unauthorized()
        const caller = yield* credentials.authenticate(call.token)
        if (caller.env_id !== envId) return yield* new Unauthorized()
        return allows(caller.permissions, "webhook", endpoint.service, "execute")
          ? caller
          : yield* new Forbidden({ permission: `webhook:${endpoint.service} execute` })
      })

      const execute = Effect.fnUntraced(function* (
        restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
        call: WebhookCall,
        endpoint: Endpoint,
        run: Run,
        caller: Identity | null
      ) {
        const { facts, logged } = describeRequest(call, caller, endpoint.secret_headers)
        const preface: ReadonlyArray<LogEntry> = [
          { seq: 0, time: run.start_time, level: "info", message: "request", data: logged }
        ]
        const executed = yield* Effect.exit(
          restore(
            executor.execute({
              run,
              facts,
              trigger: "request",
              timeoutMs: endpoint.timeout_ms,
              preface
            })
          )
        )
        const stopped = yield* currentTime
        if (Exit.isSuccess(executed)) {
          const { execution, logs } = executed.value
          yield* journal.write({ _tag: "Ended", run: endRun(run, execution, stopped), logs })
          return execution.outcome
        }
        const ended = Cause.hasInterruptsOnly(executed.cause)
          ? endRun(run, cancelled, stopped)
          : loseRun(run, "SandboxUnavailable", "The sandbox could not run the function", stopped)
        yield* journal.write({ _tag: "Ended", run: ended, logs: preface })
        return yield* Effect.failCause(executed.cause)
      })

      return Webhooks.of({
        handle: Effect.fnUntraced(function* (call) {
          const env = yield* tenants.resolve(call.org, call.env)
          yield* rates.check(env.env_id)
          const found = (yield* deployments.of(env.env_id)).endpoint(call.method, call.service, call.path)
          if (found === undefined) return yield* new NotFound({ resource: "webhook endpoint" })
          const { build, endpoint } = found
          const caller = yield* authenticate(call, endpoint, env.env_id)
          yield* quotas.admit(env.env_id, 1)
          const run = callRun(build, endpoint, nodeId, yield* fresh(RunId), yield* fresh(StreamId), yield* currentTime)
          journal.started(run)
          const outcome = yield* Effect.uninterruptibleMask((restore) => execute(restore, call, endpoint, run, caller))
          return answerOf(outcome) ?? (yield* new FunctionFailed({ run_id: run.run_id }))
        })
      })
    })
  )
}

const cancelled: Execution = { outcome: { _tag: "Cancelled" }, usage: { cpu_ms: 0, wall_ms: 0, heap_bytes: 0 } }

const callRun = (
  build: Build,
  endpoint: Endpoint,
  node_id: NodeId,
  run_id: RunId,
  stream_id: StreamId,
  start_time: Timestamp
): Run => ({
  run_id,
  env_id: build.env_id,
  stream_id,
  project_id: build.project_id,
  project_name: build.project_name,
  build_id: build.build_id,
  ns: endpoint.ns,
  var: endpoint.var,
  run_type: "call",
  status: "running",
  start_time,
  stop_time: null,
  origin_run_id: null,
  event_id: null,
  attempt: 1,
  result: null,
  node_id,
  cpu_ms: null,
  wall_ms: null,
  heap_bytes: null
})

/** Rule 2: a response object as it is, a plain value as 200 JSON; null for everything that is a failure. */
const answerOf = (outcome: Outcome): WebhookAnswer | null => {
  switch (outcome._tag) {
    case "Returned":
      return { status: 200, headers: json, body: outcome.output }
    case "Responded": {
      const { status, headers, encoding, body } = outcome
      if (encoding === "base64") return { status, headers, body: Result.getOrThrow(Base64.decode(body)) }
      return { status, headers: encoding === "json" ? { ...json, ...headers } : headers, body }
    }
    default:
      return null
  }
}

const json = { "content-type": "application/json" }
