/**
 * Functions as tools of models (decisions section 8): what a service of an environment offers, and calling it.
 *
 * Transport-free: the HTTP layer speaks the Model Context Protocol before it.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { callerFacts, type Identity } from "../access/Caller.ts"
import { Credentials } from "../access/Credentials.ts"
import { allows } from "../access/Permission.ts"
import { Deployments, type OfferedTool } from "../builds/Deployments.ts"
import {
  Forbidden,
  NotFound,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../errors/Errors.ts"
import { WaitedRuns } from "../execution/WaitedRuns.ts"
import { type JsonText, toJsonText } from "../ids/JsonText.ts"
import type { SandboxUnavailable } from "../sandbox/Sandbox.ts"
import { Quotas } from "../tenancy/Quotas.ts"
import { RateLimits } from "../tenancy/RateLimits.ts"
import { Tenants } from "../tenancy/Tenants.ts"

/** Which tools, and who asks for them. */
export interface ToolAddress {
  readonly org: string
  readonly env: string
  readonly service: string
  /** The bearer token, if one was sent. */
  readonly token: string | null
}

/** What a caller found behind an address: the tools of the service, by name. */
export interface ToolService {
  readonly service: string
  readonly caller: Identity
  readonly tools: ReadonlyMap<string, OfferedTool>
}

export type ToolAnswer =
  /** JSON text. */
  | { readonly _tag: "Returned"; readonly output: string }
  /** The function's own failure, without its stack. */
  | { readonly _tag: "Failed"; readonly name: string; readonly message: string }

type Refused = Unauthorized | RateLimited | Forbidden | NotFound | StoreUnavailable

export class Tools extends Context.Service<
  Tools,
  {
    /**
     * The tools of a service, of all builds that serve the environment. Needs `mcp: execute` on the service;
     * `Unauthorized` for a credential of another environment, `NotFound` for a service without tools.
     */
    readonly enter: (address: ToolAddress) => Effect.Effect<ToolService, Refused>
    /**
     * Runs a tool's function with these arguments, whose shape the caller of this has checked; its run is stored by
     * then. Interruption cancels the run.
     */
    readonly call: (
      service: ToolService,
      tool: OfferedTool,
      args: Schema.Json
    ) => Effect.Effect<ToolAnswer, PlanRequired | NotFound | SandboxUnavailable | StoreUnavailable>
  }
>()("@weft/core/tools/Tools") {
  static readonly layer = Layer.effect(
    Tools,
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const rates = yield* RateLimits
      const quotas = yield* Quotas
      const credentials = yield* Credentials
      const deployments = yield* Deployments
      const runs = yield* WaitedRuns

      return Tools.of({
        enter: Effect.fnUntraced(function* ({ org, env, service, token }) {
          if (token === null) return yield* new Unauthorized()
          const caller = yield* credentials.authenticate(token)
          const { env_id } = yield* tenants.resolve(org, env)
          if (caller.env_id !== env_id) return yield* new Unauthorized()
          yield* rates.check(env_id)
          if (!allows(caller.permissions, "mcp", service, "execute")) {
            return yield* new Forbidden({ permission: `mcp:${service} execute` })
          }
          const tools = (yield* deployments.of(env_id)).tools(service)
          return tools.size === 0 ? yield* new NotFound({ resource: "tool service" }) : { service, caller, tools }
        }),

        call: Effect.fnUntraced(function* ({ service, caller }, { build, tool }, args) {
          yield* quotas.admit(build.env_id, 1)
          const { run, outcome } = yield* runs.run({
            build,
            fn: tool,
            trigger: "tool",
            body: null,
            facts: `{"tool":${JSON.stringify(args)},"caller":${callerFacts(caller)}}`,
            caller,
            request: { message: "tool call", data: toJsonText({ service, tool: tool.name }) }
          })
          return outcome._tag === "Returned"
            ? { _tag: "Returned", output: outcome.output }
            : { _tag: "Failed", ...(yield* decodeFailure(run.result)) }
        })
      })
    })
  )
}

/** What the result of a failed run says; its stack stays here. */
const decodeFailure = (result: JsonText | null) =>
  Effect.map(
    Effect.orDie(Schema.decodeUnknownEffect(Schema.fromJsonString(FailedResult))(result)),
    ({ error }) => error
  )

const FailedResult = Schema.Struct({ error: Schema.Struct({ name: Schema.String, message: Schema.String }) })
