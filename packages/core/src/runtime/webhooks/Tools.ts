/**
 * Functions as tools of language models (decisions section 8): lists the tools of a service and calls them.
 *
 * Independent of transport: the HTTP adapter implements the Model Context Protocol.
 */
import { Context, Effect, Layer, type Schema } from "effect"
import {
  Forbidden,
  NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../../foundation/Errors.ts"
import { toJsonText } from "../../foundation/JsonText.ts"
import type { SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { Turns, takeTurn } from "../../platform/turns/Turns.ts"
import { type DeployedTool, Deployments } from "../../resources/builds/Deployments.ts"
import { callerJson, type Identity } from "../../tenants/access/Caller.ts"
import { Credentials } from "../../tenants/access/Credentials.ts"
import { allows } from "../../tenants/access/Permission.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { RateLimits } from "../../tenants/orgs/RateLimits.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { SynchronousRuns } from "../execution/SynchronousRuns.ts"
import { toFailure } from "../runs/Attempt.ts"

/** Address of a service, and the credential of the caller. */
export interface ToolAddress {
  readonly org: string
  readonly env: string
  readonly service: string
  /** The bearer token, if one was sent. */
  readonly token: string | null
}

/** Tools of a service by name, for one caller. */
export interface ToolService {
  readonly service: string
  readonly caller: Identity
  readonly tools: ReadonlyMap<string, DeployedTool>
}

export type ToolAnswer =
  /** JSON text. */
  | { readonly _tag: "Returned"; readonly output: string }
  /** The function's own failure, without its stack. */
  | { readonly _tag: "Failed"; readonly name: string; readonly message: string }

type ToolRefusal = Unauthorized | RateLimited | Forbidden | NotFound | StoreUnavailable

export class Tools extends Context.Service<
  Tools,
  {
    /**
     * Returns the tools of a service, from all deployed builds of the environment. Requires `mcp: execute` on the service.
     * Fails with `Unauthorized` for a credential of another environment, and with `NotFound` for a service without tools.
     */
    readonly enter: (address: ToolAddress) => Effect.Effect<ToolService, ToolRefusal>
    /**
     * Runs a tool's function and records its run. The caller has checked the arguments against the tool's schema.
     * Interruption cancels the run.
     */
    readonly call: (
      service: ToolService,
      tool: DeployedTool,
      args: Schema.Json
    ) => Effect.Effect<ToolAnswer, PlanRequired | NotFound | SandboxUnavailable | StoreUnavailable>
  }
>()("@weft/core/runtime/webhooks/Tools") {
  static readonly layer = Layer.effect(
    Tools,
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const rates = yield* RateLimits
      const quotas = yield* Quotas
      const credentials = yield* Credentials
      const deployments = yield* Deployments
      const runs = yield* SynchronousRuns
      const turns = yield* Turns

      return Tools.of({
        enter: Effect.fnUntraced(function* ({ org, env, service, token }) {
          if (token === null) return yield* new Unauthorized()
          const caller = yield* credentials.authenticate(token)
          const { env_id } = yield* tenants.resolve(org, env)
          if (caller.env_id !== env_id) return yield* new Unauthorized()
          yield* takeTurn(turns, env_id, "request")
          yield* rates.check(env_id)
          if (!allows(caller.permissions, "mcp", service, "execute")) {
            return yield* new Forbidden({ permission: `mcp:${service} execute` })
          }
          const tools = (yield* deployments.of(env_id)).tools(service)
          return tools.size === 0 ? yield* new NotFound({ resource: "tool service" }) : { service, caller, tools }
        }),

        call: Effect.fnUntraced(function* ({ service, caller }, { build, tool }, args) {
          yield* quotas.admit(build.env_id, 1)
          const { outcome } = yield* runs.run({
            build,
            fn: tool,
            trigger: "tool",
            body: null,
            facts: `{"tool":${JSON.stringify(args)},"caller":${callerJson(caller)}}`,
            caller,
            request: { message: "tool call", data: toJsonText({ service, tool: tool.name }) }
          })
          switch (outcome._tag) {
            case "Returned":
              return { _tag: "Returned", output: outcome.output }
            case "Responded":
              return yield* Effect.die(new Error("A tool ended with a response, as only webhooks do"))
            default:
              return { _tag: "Failed", ...toFailure(outcome) }
          }
        })
      })
    })
  )
}
