/**
 * Functions as tools, resources and prompts of language models (decisions section 8): lists those of a service and runs
 * them.
 *
 * Independent of transport: the HTTP adapter implements the Model Context Protocol.
 */
import { Context, Effect, Layer } from "effect"
import {
  Forbidden,
  NotFound,
  type Paused,
  type PlanRequired,
  type RateLimited,
  type StoreUnavailable,
  Unauthorized
} from "../../foundation/Errors.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import type { SandboxUnavailable } from "../../platform/sandbox/Sandbox.ts"
import { Turns, takeTurn } from "../../platform/turns/Turns.ts"
import type { Build } from "../../resources/builds/Build.ts"
import {
  assignTo,
  type DeployedPrompt,
  type DeployedResource,
  type DeployedTool,
  Deployments,
  type McpService
} from "../../resources/builds/Deployments.ts"
import { requestTimeoutMs } from "../../resources/builds/Manifest.ts"
import { PublicUrl } from "../../resources/files/PublicUrl.ts"
import { enterPreview } from "../../resources/previews/PreviewCaller.ts"
import { callerJson, type Identity } from "../../tenants/access/Caller.ts"
import { Credentials } from "../../tenants/access/Credentials.ts"
import { allows } from "../../tenants/access/Permission.ts"
import { Quotas } from "../../tenants/orgs/Quotas.ts"
import { RateLimits } from "../../tenants/orgs/RateLimits.ts"
import { Tenants } from "../../tenants/orgs/Tenants.ts"
import { SynchronousRuns, type SynchronousWork } from "../execution/SynchronousRuns.ts"
import { ActivePauses } from "../journal/ActivePauses.ts"
import { toFailure } from "../runs/Attempt.ts"
import { pausedError } from "../runs/Pause.ts"
import type { ModelClient } from "../svc/ModelClient.ts"

/** Address of a service, and the credential of the caller. */
export interface ToolAddress {
  readonly org: string
  readonly env: string
  readonly service: string
  /** The bearer token, if one was sent. */
  readonly token: string | null
}

/** Tools, resources and prompts of a service, for one caller. */
export interface ToolService extends McpService {
  readonly service: string
  readonly caller: Identity
}

export type ToolAnswer =
  /** JSON text. */
  | { readonly _tag: "Returned"; readonly output: string }
  /** The function's own failure, without its stack. */
  | { readonly _tag: "Failed"; readonly name: string; readonly message: string }

/** The value to complete, and the values of other arguments. */
export interface PartialArgument {
  readonly value: string
  readonly others: Readonly<Record<string, string>>
}

type ToolFailure = PlanRequired | Paused | NotFound | SandboxUnavailable | StoreUnavailable

type ToolRefusal = Unauthorized | RateLimited | Forbidden | NotFound | StoreUnavailable

export class Tools extends Context.Service<
  Tools,
  {
    /** Returns the public URL of this host, or null. */
    readonly publicUrl: () => string | null
    /**
     * Returns a service, from all deployed builds of the environment. Requires `mcp: execute` on the service. Fails with
     * `Unauthorized` for a credential of another environment (a preview also accepts those of its parent), and with `NotFound` for a service without entries.
     */
    readonly enter: (address: ToolAddress) => Effect.Effect<ToolService, ToolRefusal>
    /**
     * Runs a tool's function and records its run. The caller has checked the arguments against the tool's schema.
     * Interruption cancels the run. The same holds for the other functions.
     */
    readonly call: (
      service: ToolService,
      tool: DeployedTool,
      args: JsonText,
      client?: ModelClient
    ) => Effect.Effect<ToolAnswer, ToolFailure>
    /** Reads a resource. `params` are the values of the variables of its template. */
    readonly read: (
      service: ToolService,
      resource: DeployedResource,
      uri: string,
      params: Readonly<Record<string, string>>,
      client?: ModelClient
    ) => Effect.Effect<ToolAnswer, ToolFailure>
    /** Gets a prompt. */
    readonly prompt: (
      service: ToolService,
      prompt: DeployedPrompt,
      args: Readonly<Record<string, string>>,
      client?: ModelClient
    ) => Effect.Effect<ToolAnswer, ToolFailure>
    /** Runs `fn`, the function `ns/var` of the build that completes an argument, with the value and the other values. */
    readonly complete: (
      service: ToolService,
      build: Build,
      fn: string,
      argument: PartialArgument
    ) => Effect.Effect<ToolAnswer, ToolFailure>
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
      const publicUrl = yield* PublicUrl
      const pauses = yield* ActivePauses

      const run = Effect.fnUntraced(function* (
        { service, caller }: ToolService,
        build: Build,
        fn: SynchronousWork["fn"],
        { trigger, facts, message, name, client }: Work
      ) {
        const pause = pauses.find({ env_id: build.env_id, project_id: build.project_id, ns: fn.ns, var: fn.var })
        if (pause !== undefined) return yield* pausedError(pause)
        yield* quotas.admit(build.env_id, 1)
        const { outcome } = yield* runs.run({
          build,
          fn,
          trigger,
          body: null,
          facts: `{${facts},"caller":${callerJson(caller)}}`,
          caller,
          ...(client === undefined ? {} : { client }),
          request: { message, data: toJsonText({ service, ...name }) }
        })
        switch (outcome._tag) {
          case "Returned":
            return { _tag: "Returned", output: outcome.output } as const
          case "Responded":
            return yield* Effect.die(new Error("A function of MCP ended with a response, as only webhooks do"))
          default:
            return { _tag: "Failed", ...toFailure(outcome) } as const
        }
      })

      return Tools.of({
        publicUrl,

        enter: Effect.fnUntraced(function* ({ org, env, service, token }) {
          if (token === null) return yield* new Unauthorized()
          const own = yield* credentials.authenticate(token)
          const resolved = yield* tenants.resolve(org, env)
          const { env_id } = resolved
          const caller = own.env_id === env_id ? own : enterPreview(own, resolved)
          if (caller === null) return yield* new Unauthorized()
          yield* takeTurn(turns, env_id, "request")
          yield* rates.check(env_id)
          if (!allows(caller.permissions, "mcp", service, "execute")) {
            return yield* new Forbidden({ permission: `mcp:${service} execute` })
          }
          // A client finds the same build in each request: it lists tools in one, and calls them in others.
          const id = caller.id ?? caller.type
          const input = () => ({ id, type: "mcp", stream_id: "", data: { service } })
          const entries = assignTo(yield* deployments.of(env_id), () => ({ id, input })).mcp(service)
          return entries.tools.size + entries.resources.size + entries.prompts.size === 0
            ? yield* new NotFound({ resource: "tool service" })
            : { service, caller, ...entries }
        }),

        call: (service, { build, tool }, args, client) =>
          run(service, build, tool, {
            trigger: "tool",
            facts: `"tool":${args}`,
            message: "tool call",
            name: { tool: tool.name },
            client
          }),

        read: (service, { build, resource }, uri, params, client) =>
          run(service, build, resource, {
            trigger: "resource",
            facts: `"resource":${JSON.stringify({ uri, params })}`,
            message: "resource read",
            name: { resource: resource.uri },
            client
          }),

        prompt: (service, { build, prompt }, args, client) =>
          run(service, build, prompt, {
            trigger: "prompt",
            facts: `"prompt":${JSON.stringify(args)}`,
            message: "prompt",
            name: { prompt: prompt.name },
            client
          }),

        complete: Effect.fnUntraced(function* (service, build, fn, { value, others }) {
          const deployment = (yield* deployments.of(build.env_id)).builds.get(build.build_id)
          const entry = deployment?.manifest.functions.find((each) => `${each.ns}/${each.var}` === fn)
          if (entry === undefined) return yield* new NotFound({ resource: "function" })
          return yield* run(
            service,
            build,
            { ...entry, timeout_ms: Math.min(entry.timeout_ms, requestTimeoutMs), record: "before" },
            {
              trigger: "args",
              facts: `"args":${JSON.stringify([value, others])}`,
              message: "completion",
              name: { completion: fn }
            }
          )
        })
      })
    })
  )
}

/** The trigger of a run, its fact and its entry in the log. */
interface Work {
  readonly trigger: SynchronousWork["trigger"]
  /** A field of JSON text: `"tool":{}`. */
  readonly facts: string
  readonly message: string
  readonly name: Readonly<Record<string, string>>
  readonly client?: ModelClient | undefined
}
