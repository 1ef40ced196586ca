/** Parses the entries for MCP clients in a function's `meta`: `tool`, `resource` and `prompt`. Pure. */
import { Result, type Schema } from "effect"
import type { FunctionRef } from "../../platform/sandbox/Sandbox.ts"
import type { Completion, Prompt, PromptArgument, Resource, Tool, ToolAnnotations } from "./McpEntries.ts"
import {
  at,
  fault,
  isObject,
  optional,
  type Read,
  readBoolean,
  readEach,
  readObject,
  readText,
  readUrlSafe
} from "./MetaFields.ts"
import { readVariables, variablesMax } from "./UriTemplate.ts"

const nameLengthMax = 128
const titleLengthMax = 256
const textLengthMax = 4096
const uriLengthMax = 1024

/** Maximum arguments of a prompt. */
const argumentsMax = 32
/** Maximum values of a static completion, and the maximum characters of each. */
const valuesMax = 1000
const valueLengthMax = 256

/** Returns the field if it is present. */
const present = <Name extends string, A>(
  name: Name,
  value: unknown,
  read: (value: unknown) => Read<A>
): Read<{ readonly [Key in Name]?: A }> =>
  value === undefined ? Result.succeed({}) : Result.map(read(value), (found) => toField(name, found))

const toField = <Name extends string, A>(name: Name, value: A): { readonly [Key in Name]?: A } => {
  const field: { [Key in Name]?: A } = {}
  field[name] = value
  return field
}

const readTitle = (field: string) => (value: unknown) => readText(field, value, titleLengthMax)

export const readTool = (
  fn: FunctionRef,
  value: unknown,
  description: string
): Read<Omit<Tool, "timeout_ms" | "record">> =>
  Result.gen(function* () {
    const keys = ["service", "name", "title", "description", "input", "output", "annotations"]
    const tool = yield* readObject("tool", value, keys)
    return {
      ...fn,
      service: yield* readUrlSafe("tool.service", tool.service),
      name: yield* optional(tool.name, fn.var, (it) => readText("tool.name", it, nameLengthMax)),
      ...(yield* present("title", tool.title, readTitle("tool.title"))),
      description: yield* optional(tool.description, description, (it) =>
        readText("tool.description", it, textLengthMax)
      ),
      input: yield* optional(tool.input, { type: "object" }, (it) => readSchema("tool.input", it, "arguments")),
      ...(yield* present("output", tool.output, (it) => readSchema("tool.output", it, "result"))),
      ...(yield* present("annotations", tool.annotations, readAnnotations))
    }
  })

const readSchema = (field: string, value: unknown, of: string): Read<Schema.JsonObject> =>
  isJsonObject(value) ? Result.succeed(value) : fault(field, `must be an object: the JSON Schema of the ${of}`)

/** True for objects. `meta` is JSON, so its objects are JSON objects. */
const isJsonObject = (value: unknown): value is Schema.JsonObject => isObject(value)

const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const

const readAnnotations = (value: unknown): Read<ToolAnnotations> =>
  Result.gen(function* () {
    const annotations = yield* readObject("tool.annotations", value, hints)
    const fields = yield* Result.all(
      hints.map((hint) => present(hint, annotations[hint], (it) => readBoolean(at("tool.annotations", hint), it)))
    )
    return Object.assign({}, ...fields)
  })

export const readResource = (
  fn: FunctionRef,
  value: unknown,
  description: string
): Read<Omit<Resource, "timeout_ms" | "record">> =>
  Result.gen(function* () {
    const keys = ["service", "uri", "name", "title", "description", "mimeType", "complete"]
    const resource = yield* readObject("resource", value, keys)
    const uri = yield* readUri(resource.uri)
    return {
      ...fn,
      service: yield* readUrlSafe("resource.service", resource.service),
      uri,
      name: yield* optional(resource.name, fn.var, (it) => readText("resource.name", it, nameLengthMax)),
      ...(yield* present("title", resource.title, readTitle("resource.title"))),
      description: yield* optional(resource.description, description, (it) =>
        readText("resource.description", it, textLengthMax)
      ),
      ...(yield* present("mime_type", resource.mimeType, (it) => readMimeType("resource.mimeType", it))),
      complete: yield* optional(resource.complete, {}, (it) => readCompletions(uri, it))
    }
  })

/** Reads an absolute URI or a URI template. */
const readUri = (value: unknown): Read<string> => {
  const isUri =
    typeof value === "string" &&
    value.length <= uriLengthMax &&
    /^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$/.test(value) &&
    readVariables(value) !== null
  return isUri
    ? Result.succeed(value)
    : fault(
        "resource.uri",
        `must be an absolute URI of up to ${uriLengthMax} visible ASCII characters, or a template with up to ${variablesMax} different {variables} and text between them`
      )
}

const readMimeType = (field: string, value: unknown): Read<string> =>
  typeof value === "string" &&
  /^[A-Za-z0-9!#$&^_.+-]{1,127}\/[A-Za-z0-9!#$&^_.+-]{1,127}(?:; ?[ -~]{1,127})?$/.test(value)
    ? Result.succeed(value)
    : fault(field, "must be a media type, as in text/plain")

/** Reads completions by variable of the template. */
const readCompletions = (template: string, value: unknown): Read<Readonly<Record<string, Completion>>> =>
  Result.gen(function* () {
    const names = readVariables(template) ?? []
    const given = yield* readObject("resource.complete", value, names)
    const completions = yield* Result.all(
      Object.entries(given).map(([name, it]) =>
        Result.map(readCompletion(at("resource.complete", name), it), (completion) => [name, completion] as const)
      )
    )
    return Object.fromEntries(completions)
  })

/** Reads possible values, or a reference of a function. `readManifest` checks that the build has the function. */
const readCompletion = (field: string, value: unknown): Read<Completion> => {
  if (typeof value === "string") {
    return /^[^/]+\/[^/]+$/.test(value)
      ? readText(field, value, 2 * textLengthMax)
      : fault(field, "must be a function of the build, as in main/names, or an array of strings")
  }
  if (!Array.isArray(value)) return fault(field, "must be an array of strings, or a function of the build")
  if (value.length > valuesMax) return fault(field, `must have at most ${valuesMax} values (got ${value.length})`)
  return readEach(field, value, (each, it) => readText(each, it, valueLengthMax))
}

export const readPrompt = (
  fn: FunctionRef,
  value: unknown,
  description: string
): Read<Omit<Prompt, "timeout_ms" | "record">> =>
  Result.gen(function* () {
    const prompt = yield* readObject("prompt", value, ["service", "name", "title", "description", "arguments"])
    return {
      ...fn,
      service: yield* readUrlSafe("prompt.service", prompt.service),
      name: yield* optional(prompt.name, fn.var, (it) => readText("prompt.name", it, nameLengthMax)),
      ...(yield* present("title", prompt.title, readTitle("prompt.title"))),
      description: yield* optional(prompt.description, description, (it) =>
        readText("prompt.description", it, textLengthMax)
      ),
      arguments: yield* optional(prompt.arguments, [], readArguments)
    }
  })

const readArguments = (value: unknown): Read<ReadonlyArray<PromptArgument>> => {
  if (!Array.isArray(value)) return fault("prompt.arguments", "must be an array")
  if (value.length > argumentsMax) {
    return fault("prompt.arguments", `must have at most ${argumentsMax} arguments (got ${value.length})`)
  }
  return Result.flatMap(readEach("prompt.arguments", value, readArgument), (all) =>
    new Set(all.map(({ name }) => name)).size < all.length
      ? fault("prompt.arguments", "names an argument twice")
      : Result.succeed(all)
  )
}

const readArgument = (field: string, value: unknown): Read<PromptArgument> =>
  Result.gen(function* () {
    const argument = yield* readObject(field, value, ["name", "title", "description", "required", "complete"])
    return {
      name: yield* readText(at(field, "name"), argument.name, nameLengthMax),
      ...(yield* present("title", argument.title, readTitle(at(field, "title")))),
      ...(yield* present("description", argument.description, (it) =>
        readText(at(field, "description"), it, textLengthMax)
      )),
      required: yield* optional(argument.required, false, (it) => readBoolean(at(field, "required"), it)),
      ...(yield* present("complete", argument.complete, (it) => readCompletion(at(field, "complete"), it)))
    }
  })
