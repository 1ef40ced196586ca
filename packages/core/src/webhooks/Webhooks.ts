/**
 * Functions as HTTP endpoints (specification, "Webhook routes").
 *
 * The hot path: with warm snapshots it makes no query before the function runs, and one insert, shared with
 * others, before the answer goes out.
 */
import { Context, Effect, Exit, Layer, Result } from "effect"
import { Base64 } from "effect/encoding"
import type { Identity } from "../access/Caller.ts"
import { Credentials } from "../access/Credentials.ts"
import { allows } from "../access/Permission.ts"
import { Deployments, type Route } from "../builds/Deployments.ts"
import {
  Forbidden,
  FunctionFailed,
  NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../errors/Errors.ts"
import { fromStart, type Start, toStart } from "../execution/Started.ts"
import { WaitedRuns } from "../execution/WaitedRuns.ts"
import type { EnvId } from "../ids/Ids.ts"
import type { Outcome } from "../sandbox/Outcome.ts"
import type { SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { Provisioning } from "../tenancy/Provisioning.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { RateLimits } from "../tenancy/RateLimits.ts"
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
    /** As `handle`, for the path on which no fiber runs where all that is asked for is at hand. Gives how to cancel it. */
    readonly answer: (call: WebhookCall) => Start<WebhookAnswer, Refused | FunctionFailed>
    /**
     * Refuses a call as `handle` does before it runs the function, and counts it as that does: for one whose body cannot
     * be read, who sent it is told first that they may not call.
     */
    readonly admit: (call: WebhookCall) => Effect.Effect<void, Refused>
  }
>()("@weft/core/webhooks/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const provisioning = yield* Provisioning
      const rates = yield* RateLimits
      const quotas = yield* Quotas
      const credentials = yield* Credentials
      const deployments = yield* Deployments
      const runs = yield* WaitedRuns

      const authenticate = Effect.fnUntraced(function* (call: WebhookCall, envId: EnvId) {
        if (call.token === null) return yield* new Unauthorized()
        const caller = yield* credentials.authenticate(call.token)
        return caller.env_id === envId ? caller : yield* new Unauthorized()
      })

      /** In the order of all requests (decisions, section 2); what is not there needs no credential. */
      const admit = Effect.fnUntraced(function* (call: WebhookCall) {
        const env = yield* provisioning.resolve(call.org, call.env)
        const found = (yield* deployments.of(env.env_id)).endpoint(call.method, call.service, call.path)
        const caller = found?.endpoint.auth === "required" ? yield* authenticate(call, env.env_id) : null
        yield* rates.check(env.env_id)
        if (found === undefined) return yield* new NotFound({ resource: "webhook endpoint" })
        const { service } = found.endpoint
        if (caller !== null && !allows(caller.permissions, "webhook", service, "execute")) {
          return yield* new Forbidden({ permission: `webhook:${service} execute` })
        }
        yield* quotas.admit(env.env_id, 1)
        return { route: found, caller } satisfies Admitted
      })

      /** As `admit`, where nothing has to be asked for or counted; null says nothing. */
      const admitAtOnce = (call: WebhookCall): Admitted | null => {
        const env = provisioning.peek(call.org, call.env)
        if (env === undefined || !rates.isUnlimited(env.env_id) || !quotas.isUnlimited(env.env_id)) return null
        const route = deployments.peek(env.env_id)?.endpoint(call.method, call.service, call.path)
        return route === undefined || route.endpoint.auth !== "none" ? null : { route, caller: null }
      }

      const start =
        (
          call: WebhookCall,
          { route: { build, endpoint }, caller }: Admitted
        ): Start<WebhookAnswer, Refused | FunctionFailed> =>
        (context, done) => {
          const { facts, body, logged } = describeRequest(call, caller, endpoint.secret_headers)
          const request = { message: "request", data: logged }
          return runs.start({ build, fn: endpoint, trigger: "request", facts, body, caller, request })(
            context,
            (exit) => {
              if (Exit.isFailure(exit)) return done(Exit.failCause(exit.cause))
              const { run, outcome } = exit.value
              const answer = answerOf(outcome)
              done(answer === null ? Exit.fail(new FunctionFailed({ run_id: run.run_id })) : Exit.succeed(answer))
            }
          )
        }

      const handle = (call: WebhookCall) => Effect.flatMap(admit(call), (admitted) => fromStart(start(call, admitted)))

      return Webhooks.of({
        handle,
        answer: (call) => {
          const admitted = admitAtOnce(call)
          return admitted === null ? toStart(handle(call)) : start(call, admitted)
        },
        admit: (call) => Effect.asVoid(admit(call))
      })
    })
  )
}

/** A call that may run its function. */
interface Admitted {
  readonly route: Route
  /** Null where nobody needs to say who calls. */
  readonly caller: Identity | null
}

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
