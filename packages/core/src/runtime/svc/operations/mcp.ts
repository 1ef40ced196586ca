/** `svc.mcp`: messages to the MCP client that waits for the run, and notifications of changed resources. */
import { Effect, Schema } from "effect"
import { toJsonText } from "../../../foundation/JsonText.ts"
import { ClusterBus } from "../../../platform/cluster/ClusterBus.ts"
import { ElicitationForm, ElicitedValue, findFormFault } from "../ElicitationForm.ts"
import { GuestJson } from "../GuestFace.ts"
import { ClientRefused, type McpRequest, mcpLogLevels, NotSupported } from "../ModelClient.ts"
import { type CallingRun, ofRun, operation } from "../Operation.ts"

/** Maximum messages of a run at once, and per second after that. */
const rate = { burst: 200, perSecond: 100 }
/** Maximum size of a log message and of a form, in bytes of JSON. */
const messageBytesMax = 16 * 1024
const formBytesMax = 64 * 1024
/** Maximum requests of a run to its client that wait for an answer. */
const openRequestsMax = 4

const short = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128))
const text = Schema.String.check(Schema.isMaxLength(4096))

export const mcpLog = operation({
  name: "mcp.log",
  input: Schema.Struct({
    level: Schema.Literals(mcpLogLevels),
    data: GuestJson,
    logger: Schema.optionalKey(short.annotate({ description: "Name of the part that logs." }))
  }),
  output: Schema.Void,
  permission: ofRun,
  limits: {
    size: { of: ({ data }) => toJsonText(data), max: messageBytesMax },
    rate: { ...rate, message: `A run may log ${rate.perSecond} messages in a second` }
  },
  errors: { invalid: "BadRequest" },
  span: "none",
  guest: {
    doc: "Sends a log message of at most 16 KiB JSON to the MCP client that waits for the run. Without one it has no effect.",
    parameters: { object: "message" },
    takes: "an object with level and data",
    types: { input: "McpLogMessage" }
  },
  needs: Effect.void,
  handler:
    () =>
    ({ client }, message) =>
      Effect.sync(() => client?.log(message))
})

export const mcpProgress = operation({
  name: "mcp.progress",
  input: Schema.Struct({
    progress: Schema.Finite.annotate({ description: "Must increase with every call." }),
    total: Schema.optionalKey(Schema.Finite),
    message: Schema.optionalKey(text)
  }),
  output: Schema.Void,
  permission: ofRun,
  limits: { rate: { ...rate, message: `A run may report progress ${rate.perSecond} times in a second` } },
  errors: { invalid: "BadRequest" },
  span: "none",
  guest: {
    doc: "Reports progress to the MCP client that waits for the run, if it wants progress.",
    parameters: { object: "progress" },
    takes: "an object with progress",
    types: { input: "McpProgress" }
  },
  needs: Effect.void,
  handler:
    () =>
    ({ client }, progress) =>
      Effect.sync(() => client?.progress(progress))
})

const Role = Schema.Literals(["user", "assistant"])

const SampledContent = Schema.Union([
  Schema.Struct({ type: Schema.Literal("text"), text: Schema.String }),
  Schema.Struct({ type: Schema.Literals(["image", "audio"]), data: Schema.String, mimeType: Schema.String })
])

const SampleResult = Schema.Struct({
  role: Role,
  content: SampledContent,
  model: Schema.String,
  stopReason: Schema.optionalKey(Schema.String)
})

const priority = Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))

const ModelPreferences = Schema.Struct({
  hints: Schema.optionalKey(Schema.Array(Schema.Struct({ name: text })).check(Schema.isMaxLength(16))),
  costPriority: priority,
  speedPriority: priority,
  intelligencePriority: priority
})

export const mcpSample = operation({
  name: "mcp.sample",
  input: Schema.Struct({
    messages: Schema.Array(Schema.Struct({ role: Role, content: SampledContent })).check(Schema.isMaxLength(256)),
    maxTokens: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 })),
    systemPrompt: Schema.optionalKey(Schema.String),
    temperature: Schema.optionalKey(Schema.Finite),
    stopSequences: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(64))),
    modelPreferences: Schema.optionalKey(ModelPreferences),
    includeContext: Schema.optionalKey(Schema.Literals(["none", "thisServer", "allServers"]))
  }),
  output: SampleResult,
  permission: ofRun,
  errors: { invalid: "BadRequest" },
  span: "client",
  guest: {
    doc: "Asks the model of the MCP client that waits for the run. Rejects with `NotSupported` or `ClientRefused`.",
    parameters: { object: "request" },
    takes: "an object with messages and maxTokens",
    types: { input: "McpSampleRequest", output: "McpSample" }
  },
  needs: Effect.sync(() => makeRequests()),
  handler: (requests) => (run, params) =>
    Effect.flatMap(requests.send(run, "mcp.sample", { method: "sampling/createMessage", params }), (answer) =>
      decodeAnswer(SampleResult, answer)
    )
})

const ElicitResult = Schema.Struct({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(Schema.Record(Schema.String, ElicitedValue))
})

export const mcpElicit = operation({
  name: "mcp.elicit",
  input: Schema.Struct({
    message: text.annotate({ description: "Shown to the user." }),
    requestedSchema: ElicitationForm.annotate({ description: "The form: an object of primitive fields." })
  }),
  output: ElicitResult,
  permission: ofRun,
  limits: { size: { of: ({ requestedSchema }) => toJsonText(requestedSchema), max: formBytesMax } },
  errors: { invalid: "BadRequest" },
  span: "client",
  guest: {
    doc: "Asks the user of the MCP client that waits for the run. Accepted content matches the form. Rejects with `NotSupported` or `ClientRefused`.",
    parameters: { object: "request" },
    takes: "an object with message and requestedSchema",
    types: { input: "McpElicitRequest", output: "McpElicited" }
  },
  needs: Effect.sync(() => makeRequests()),
  handler: (requests) => (run, params) =>
    Effect.gen(function* () {
      const answer = yield* requests.send(run, "mcp.elicit", { method: "elicitation/create", params })
      const result = yield* decodeAnswer(ElicitResult, answer)
      if (result.action !== "accept") return { action: result.action }
      const content = result.content ?? {}
      const fault = findFormFault(params.requestedSchema, content)
      if (fault !== null) return yield* refusal(fault)
      return { action: result.action, content }
    })
})

export const mcpUpdated = operation({
  name: "mcp.updated",
  input: Schema.Struct({ uri: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(1024)) }),
  output: Schema.Void,
  permission: ofRun,
  limits: { rate: { ...rate, message: `A run may report ${rate.perSecond} changed resources in a second` } },
  errors: { invalid: "BadRequest" },
  span: "internal",
  guest: {
    doc: "Notifies the MCP clients that subscribed to the resource. Any run may call it.",
    parameters: [{ name: "uri", is: "string" }],
    takes: "a string, the URI of the resource"
  },
  needs: ClusterBus,
  handler:
    (bus) =>
    ({ env_id }, { uri }) =>
      bus.sendControl([{ type: "mcp:updated", env_id, uri }])
})

/** Returns a sender of requests that counts those of each run. */
const makeRequests = () => {
  const open = new WeakMap<CallingRun, number>()
  const count = (run: CallingRun, change: number) => open.set(run, (open.get(run) ?? 0) + change)
  return {
    send: (
      run: CallingRun,
      name: string,
      request: McpRequest
    ): Effect.Effect<unknown, ClientRefused | NotSupported> => {
      const { client } = run
      if (!client?.supports.has(request.method)) return Effect.fail(unsupported(name, client !== undefined))
      if ((open.get(run) ?? 0) >= openRequestsMax) {
        return refusal(`svc.${name} may wait for at most ${openRequestsMax} answers at once`)
      }
      return Effect.acquireUseRelease(
        Effect.sync(() => count(run, 1)),
        () => client.request(request),
        () => Effect.sync(() => count(run, -1))
      )
    }
  }
}

const unsupported = (name: string, hasClient: boolean) =>
  new NotSupported({
    message: hasClient
      ? `svc.${name}: the MCP client of the run does not support it`
      : `svc.${name}: no MCP client waits for the run`
  })

const refusal = (message: string) => Effect.fail(new ClientRefused({ message }))

const decodeAnswer = <A>(schema: Schema.Codec<A, unknown>, answer: unknown): Effect.Effect<A, ClientRefused> =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(answer),
    ({ message }) => new ClientRefused({ message: `The answer of the client is not valid: ${message.slice(0, 1000)}` })
  )
