/** A build with the tools, resources and prompts that the conformance suite of the protocol expects. */
import type { TrustedModule } from "@weft/core/testing"
import type { GlobalSvc, McpElicitRequest } from "@weft/sdk"

export const service = "everything"

/** A pixel. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
/** The header of an empty recording. */
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="

type Args = Record<string, string>
type Fn = (args: Args, svc: GlobalSvc) => unknown

const text = (value: string) => ({ type: "text", text: value })
const contents = (...content: ReadonlyArray<object>) => ({ content })

const tool = (name: string, fn: Fn, more: object = {}) =>
  Object.assign(fn, { meta: { tool: { service, name, description: `Tool ${name}`, ...more } } })

const resource = (
  uri: string,
  fn: (request: { readonly uri: string; readonly params: Args }) => unknown,
  more: object
) => Object.assign(fn, { meta: { resource: { service, uri, description: `Resource ${uri}`, ...more } } })

const prompt = (name: string, fn: (args: Args) => unknown, more: object = {}) =>
  Object.assign(fn, { meta: { prompt: { service, name, description: `Prompt ${name}`, ...more } } })

const embedded = (uri: string, value: string) => ({
  type: "resource",
  resource: { uri, mimeType: "text/plain", text: value }
})

const image = { type: "image", data: png, mimeType: "image/png" }
const user = (content: object) => ({ role: "user", content })
const pause = () => new Promise((resolve) => setTimeout(resolve, 10))

const elicit = async (
  svc: GlobalSvc,
  message: string,
  properties: McpElicitRequest["requestedSchema"]["properties"]
) => {
  const { action, content } = await svc.mcp.elicit({
    message,
    requestedSchema: { type: "object", properties, required: [] }
  })
  return contents(text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`))
}

const tools = {
  simple: tool("test_simple_text", () => contents(text("This is a simple text response for testing."))),
  image: tool("test_image_content", () => contents(image)),
  audio: tool("test_audio_content", () => contents({ type: "audio", data: wav, mimeType: "audio/wav" })),
  embedded: tool("test_embedded_resource", () =>
    contents(embedded("test://embedded-resource", "This is an embedded resource content."))
  ),
  mixed: tool("test_multiple_content_types", () =>
    contents(text("Multiple content types test:"), image, {
      type: "resource",
      resource: { uri: "test://mixed-content-resource", mimeType: "application/json", text: '{"test":"data"}' }
    })
  ),
  logging: tool("test_tool_with_logging", async (_, svc) => {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await svc.mcp.log({ level: "info", data })
      await pause()
    }
    return contents(text("Logged"))
  }),
  error: tool("test_error_handling", () => {
    throw new Error("This tool intentionally returns an error for testing")
  }),
  progress: tool("test_tool_with_progress", async (_, svc) => {
    for (const progress of [0, 50, 100]) {
      await svc.mcp.progress({ progress, total: 100, message: `${progress} of 100` })
      await pause()
    }
    return contents(text("Done"))
  }),
  sampling: tool("test_sampling", async ({ prompt: asked = "" }, svc) => {
    const { content } = await svc.mcp.sample({
      messages: [{ role: "user", content: { type: "text", text: asked } }],
      maxTokens: 100
    })
    return contents(text(`LLM response: ${content.type === "text" ? content.text : content.type}`))
  }),
  elicitation: tool("test_elicitation", ({ message = "" }, svc) =>
    elicit(svc, message, {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" }
    })
  ),
  defaults: tool("test_elicitation_sep1034_defaults", (_, svc) =>
    elicit(svc, "Please review", {
      name: { type: "string", default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true }
    })
  ),
  enums: tool("test_elicitation_sep1330_enums", (_, svc) => {
    const titled = [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Option ${n}` }))
    const options = ["option1", "option2", "option3"]
    return elicit(svc, "Please choose", {
      untitledSingle: { type: "string", enum: options },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: options } },
      titledMulti: { type: "array", items: { anyOf: titled } }
    })
  }),
  draft: tool("json_schema_2020_12_tool", () => contents(text("valid")), {
    input: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: {
        address: { type: "object", properties: { street: { type: "string" }, city: { type: "string" } } }
      },
      properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" } },
      additionalProperties: false
    }
  }),
  reconnection: tool("test_reconnection", () => contents(text("Reconnection test completed"))),
  weather: tool("weather", ({ city = "" }) => (city === "" ? { degrees: "cold" } : { city, degrees: 21 }), {
    title: "Weather",
    output: { properties: { degrees: { type: "number" } }, required: ["degrees"] },
    annotations: { readOnlyHint: true, openWorldHint: false }
  }),
  broken: tool("broken", () => contents({ type: "image", data: png })),
  touch: tool("touch", async ({ uri = "" }, svc) => {
    await svc.mcp.updated(uri)
    return "touched"
  })
}

const resources = {
  text: resource("test://static-text", () => "This is the content of the static text resource.", {
    name: "Static text",
    mimeType: "text/plain"
  }),
  binary: resource("test://static-binary", () => ({ blob: png }), { name: "Static binary", mimeType: "image/png" }),
  template: resource(
    "test://template/{id}/data",
    ({ params: { id } }) => (id === "none" ? null : { id, templateTest: true, data: `Data for ID: ${id}` }),
    { name: "Template", mimeType: "application/json", complete: { id: ["123", "124", "223"] } }
  ),
  watched: resource("test://watched-resource", () => "Watched", { name: "Watched" })
}

const prompts = {
  simplePrompt: prompt("test_simple_prompt", () => "This is a simple prompt for testing."),
  argumentsPrompt: prompt(
    "test_prompt_with_arguments",
    ({ arg1 = "", arg2 = "" }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    {
      arguments: [
        { name: "arg1", description: "First", required: true, complete: "main/suggest" },
        { name: "arg2", description: "Second", required: true }
      ]
    }
  ),
  suggest: (value: string, others: Args) => [`${value}ing`, `${value}ed`, ...Object.values(others)],
  resourcePrompt: prompt(
    "test_prompt_with_embedded_resource",
    ({ resourceUri = "" }) => ({
      messages: [
        user(embedded(resourceUri, "Embedded resource content for testing.")),
        user(text("Please process the embedded resource above."))
      ]
    }),
    { arguments: [{ name: "resourceUri", required: true }] }
  ),
  imagePrompt: prompt("test_prompt_with_image", () => [user(image), user(text("Please analyze the image above."))])
}

export const everything: TrustedModule = { main: { ...tools, ...resources, ...prompts } }
