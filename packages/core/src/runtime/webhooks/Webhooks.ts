/**
 * Functions as HTTP endpoints (specification, "Webhook routes").
 *
 * This is the hot path. With cached snapshots it executes no query before the function, and one insert, shared with
 * other runs, before the response. A function may declare that the response does not wait for it.
 */
import { Context, Effect, Exit, Layer, Result } from "effect"
import { Base64 } from "effect/encoding"
import {
  BadRequest,
  Forbidden,
  FunctionFailed,
  NotFound,
  type Paused,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../../foundation/Errors.ts"
import { type EnvId, EventId, freshIdsNow } from "../../foundation/Ids.ts"
import type { Outcome } from "../../platform/sandbox/Outcome.ts"
import type { SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { Turns, takeTurn } from "../../platform/turns/Turns.ts"
import { CurrentOrigin, type Origin } from "../../resources/audit/Origin.ts"
import type { CanarySubject } from "../../resources/builds/Canary.ts"
import { assignTo, Deployments, type EnvDeployments, type Route } from "../../resources/builds/Deployments.ts"
import type { Identity } from "../../tenants/access/Caller.ts"
import { Credentials } from "../../tenants/access/Credentials.ts"
import { allows } from "../../tenants/access/Permission.ts"
import { Provisioning } from "../../tenants/orgs/Provisioning.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { RateLimits } from "../../tenants/orgs/RateLimits.ts"
import { type CallbackTask, fromCallbackTask, toCallbackTask } from "../execution/CallbackTask.ts"
import { SynchronousRuns } from "../execution/SynchronousRuns.ts"
import { inTurn } from "../execution/TaskTurn.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { pausedError } from "../runs/Pause.ts"
import type { WebhookAnswer, WebhookCall } from "./WebhookCall.ts"
import { bodyContainersMax, describeRequest, hasTooManyContainers } from "./WebhookRequest.ts"

type WebhookRefusal =
  | BadRequest
  | RateLimited
  | NotFound
  | Unauthorized
  | Forbidden
  | PlanRequired
  | Paused
  | SandboxUnavailable
  | StoreUnavailable

export class Webhooks extends Context.Service<
  Webhooks,
  {
    /**
     * Runs the endpoint's function, records its run and returns its response. Fails with `FunctionFailed` if the function
     * fails. Interruption (the client disconnected) cancels the run.
     */
    readonly handle: (call: WebhookCall) => Effect.Effect<WebhookAnswer, WebhookRefusal | FunctionFailed>
    /** As `handle`, for code without a fiber: starts none if all data is cached. Returns a function that cancels the call. */
    readonly answer: (
      call: WebhookCall,
      origin: () => Origin
    ) => CallbackTask<WebhookAnswer, WebhookRefusal | FunctionFailed>
    /**
     * Checks and counts a call as `handle` does, without running the function. For a call whose body cannot be read, so
     * that a missing permission is reported before the invalid body.
     */
    readonly admit: (call: WebhookCall) => Effect.Effect<void, WebhookRefusal>
  }
>()("@weft/core/runtime/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const provisioning = yield* Provisioning
      const rates = yield* RateLimits
      const quotas = yield* Quotas
      const credentials = yield* Credentials
      const deployments = yield* Deployments
      const runs = yield* SynchronousRuns
      const turns = yield* Turns
      const pauses = yield* ActivePauses
      const fresh = yield* freshIdsNow

      const findRoute = (deployed: EnvDeployments, call: WebhookCall) =>
        assignTo(deployed, () => toSubject(call, fresh(EventId))).endpoint(call.method, call.service, call.path)

      const findPause = ({ build: { env_id, project_id }, endpoint: { ns, var: name } }: Route) =>
        pauses.find({ env_id, project_id, ns, var: name })

      const checkPause = (route: Route) => {
        const pause = findPause(route)
        return pause === undefined ? Effect.void : Effect.fail(pausedError(pause))
      }

      const authenticate = Effect.fnUntraced(function* (call: WebhookCall, envId: EnvId) {
        if (call.token === null) return yield* new Unauthorized()
        const caller = yield* credentials.authenticate(call.token)
        return caller.env_id === envId ? caller : yield* new Unauthorized()
      })

      /** Checks a call in the order of all requests (decisions, section 2). Unknown endpoints need no credential. */
      const admit = Effect.fnUntraced(function* (call: WebhookCall) {
        const env = yield* provisioning.resolve(call.org, call.env)
        yield* takeTurn(turns, env.env_id, "request", bodyBytes(call))
        const found = findRoute(yield* deployments.of(env.env_id), call)
        const caller = found?.endpoint.auth === "required" ? yield* authenticate(call, env.env_id) : null
        yield* rates.check(env.env_id)
        if (found === undefined) return yield* new NotFound({ resource: "webhook endpoint" })
        const { service } = found.endpoint
        if (caller !== null && !allows(caller.permissions, "webhook", service, "execute")) {
          return yield* new Forbidden({ permission: `webhook:${service} execute` })
        }
        yield* checkPause(found)
        yield* quotas.admit(env.env_id, 1)
        return { route: found, caller } satisfies AdmittedCall
      })

      /** As `admit`, if all data is cached and nothing is counted; otherwise null. */
      const admitCached = (call: WebhookCall): AdmittedCall | null => {
        const env = provisioning.getCached(call.org, call.env)
        if (env === undefined || !rates.isUnlimited(env.env_id) || !quotas.isUnlimited(env.env_id)) return null
        const deployed = deployments.getCached(env.env_id)
        const route = deployed === undefined ? undefined : findRoute(deployed, call)
        if (route === undefined || route.endpoint.auth !== "none" || findPause(route) !== undefined) return null
        return { route, caller: null }
      }

      const start =
        (
          call: WebhookCall,
          { route: { build, endpoint }, caller }: AdmittedCall
        ): CallbackTask<WebhookAnswer, WebhookRefusal | FunctionFailed> =>
        (context, done) => {
          const { facts, body, logged } = describeRequest(call, caller, endpoint.secret_headers)
          if (body !== null && hasTooManyContainers(body)) {
            done(Exit.fail(tooManyContainers))
            return noWork
          }
          const request = { message: "request", data: logged }
          return runs.start({ build, fn: endpoint, trigger: "request", facts, body, caller, request })(
            context,
            (exit) => {
              if (Exit.isFailure(exit)) return done(Exit.failCause(exit.cause))
              const { runId, outcome } = exit.value
              const answer = toAnswer(outcome)
              done(answer === null ? Exit.fail(new FunctionFailed({ run_id: runId })) : Exit.succeed(answer))
            }
          )
        }

      const handle = (call: WebhookCall) =>
        Effect.flatMap(admit(call), (admitted) => fromCallbackTask(start(call, admitted)))

      return Webhooks.of({
        handle,
        answer: (call, origin) => {
          const admitted = admitCached(call)
          if (admitted !== null) {
            const turn = { key: admitted.route.build.env_id, kind: "request", bytes: bodyBytes(call) } as const
            return inTurn(turns, turn, start(call, admitted))
          }
          return toCallbackTask(Effect.provideService(handle(call), CurrentOrigin, origin()))
        },
        admit: (call) => Effect.asVoid(admit(call))
      })
    })
  )
}

/** Returns what assigns a request to a side of a canary. A key does not read its body. */
const toSubject = (call: WebhookCall, id: string): CanarySubject => {
  const { method, service, path, query, headers } = call
  return { id, input: () => ({ id, type: "webhook", stream_id: "", data: { method, service, path, query, headers } }) }
}

const bodyBytes = ({ body }: WebhookCall): number => body?.length ?? 0

/** A call that passed all checks. */
interface AdmittedCall {
  readonly route: Route
  /** Identity of the caller; null if the endpoint requires no credential. */
  readonly caller: Identity | null
}

/** Returns the response of an outcome (rule 2): a response object as it is, a plain value as 200 JSON; null for failures. */
const toAnswer = (outcome: Outcome): WebhookAnswer | null => {
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

const tooManyContainers = new BadRequest({
  reason: `The body must not have more than ${bodyContainersMax.toLocaleString("en-US")} arrays and objects`
})

const noWork = (): void => {}

const json = { "content-type": "application/json" }
