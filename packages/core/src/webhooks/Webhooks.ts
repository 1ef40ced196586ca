/**
 * Functions as HTTP endpoints (specification, "Webhook routes").
 *
 * The hot path: with warm snapshots it makes no query before the function runs, and one insert, shared with
 * others, before the answer goes out.
 */
import { Context, Effect, Layer, Result } from "effect"
import { Base64 } from "effect/encoding"
import { Credentials } from "../access/Credentials.ts"
import { allows } from "../access/Permission.ts"
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
import type { EnvId } from "../ids/Ids.ts"
import { WaitedRuns } from "../runs/WaitedRuns.ts"
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

      return Webhooks.of({
        handle: Effect.fnUntraced(function* (call) {
          const env = yield* provisioning.resolve(call.org, call.env)
          yield* rates.check(env.env_id)
          const found = (yield* deployments.of(env.env_id)).endpoint(call.method, call.service, call.path)
          if (found === undefined) return yield* new NotFound({ resource: "webhook endpoint" })
          const { build, endpoint } = found
          const caller = yield* authenticate(call, endpoint, env.env_id)
          yield* quotas.admit(env.env_id, 1)
          const { facts, logged } = describeRequest(call, caller, endpoint.secret_headers)
          const { run, outcome } = yield* runs.run({
            build,
            fn: endpoint,
            trigger: "request",
            facts,
            caller,
            request: { message: "request", data: logged }
          })
          return answerOf(outcome) ?? (yield* new FunctionFailed({ run_id: run.run_id }))
        })
      })
    })
  )
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
