/** Creates the manifest of a build from the functions that the sandbox found and their `meta` (decisions 5.1). */
import { Effect, Result, type Schema } from "effect"
import { BadRequest } from "../../foundation/Errors.ts"
import { HandlerId, ScheduleId } from "../../foundation/Ids.ts"
import { isStorable } from "../../foundation/StorableText.ts"
import type { ExportedFunction, FunctionRef } from "../../platform/sandbox/Sandbox.ts"
import { endpointName, type Manifest } from "./Manifest.ts"
import type { Completion } from "./McpEntries.ts"
import { isObject } from "./MetaFields.ts"
import { nameOf, type OnFailure, resolveFailures } from "./OnFailure.ts"
import { readTriggers, type Triggers } from "./Triggers.ts"

/** Generator of ids for handlers and schedules. */
export type IdSource = <Id extends string>(schema: Schema.Codec<Id, string>) => Effect.Effect<Id>

/** Maximum event types and schedules of a build. Each becomes an entry with all options of its function. */
const triggersMax = 2000
/** Maximum characters of a namespace and of a function's name. Every trigger contains both. */
const nameLengthMax = 256

/**
 * Returns the manifest, in the order of the functions. Fails if metadata is invalid, or if two functions claim one
 * endpoint, tool, resource or prompt. `BadRequest` contains the first such function as `ns/var`, the field and the reason.
 */
export const readManifest = Effect.fnUntraced(function* (
  functions: ReadonlyArray<ExportedFunction>,
  freshId: IdSource
) {
  yield* Effect.fromResult(limitTriggers(functions))
  const triggers = yield* Effect.fromResult(readAll(functions))
  const { endpoints, tools, resources, prompts } = triggers
  yield* Effect.fromResult(
    Result.all([
      rejectDuplicates(endpoints, "webhook", endpointName),
      rejectDuplicates(tools, "tool", (it) => `the tool ${it.name} of ${it.service}`),
      rejectDuplicates(resources, "resource", (it) => `the resource ${it.uri} of ${it.service}`),
      rejectDuplicates(prompts, "prompt", (it) => `the prompt ${it.name} of ${it.service}`),
      checkCompletions(triggers)
    ])
  )
  const resolved = resolveFailures(triggers.failures, triggers.functions)
  const failures = yield* Effect.fromResult(
    Result.mapError(resolved, ({ fn, reason }) => badMeta(fn, "onFailure", reason))
  )
  const withFailure = <A extends FunctionRef>(entry: A): A & { readonly on_failure?: OnFailure } => {
    const on_failure = failures.get(nameOf(entry))
    return on_failure === undefined ? entry : { ...entry, on_failure }
  }
  return {
    functions: triggers.functions.map(withFailure),
    handlers: yield* Effect.forEach(triggers.handlers, (handler) =>
      Effect.map(freshId(HandlerId), (event_handler_id) => ({ event_handler_id, ...withFailure(handler) }))
    ),
    schedules: yield* Effect.forEach(triggers.schedules, (schedule) =>
      Effect.map(freshId(ScheduleId), (schedule_id) => ({ schedule_id, ...withFailure(schedule) }))
    ),
    endpoints,
    tools,
    resources,
    prompts
  } satisfies Manifest
})

/** Counts the triggers before they are parsed, which takes time for each of them. */
const limitTriggers = (functions: ReadonlyArray<ExportedFunction>): Result.Result<void, BadRequest> => {
  const declared = functions.reduce(
    (sum, { meta }) => (isObject(meta) ? sum + count(meta.event) + count(meta.schedule) : sum),
    0
  )
  return declared > triggersMax ? Result.fail(tooMany) : Result.succeed(undefined)
}

const count = (declared: unknown): number =>
  Array.isArray(declared) ? declared.length : declared === undefined ? 0 : 1

const readAll = (functions: ReadonlyArray<ExportedFunction>): Result.Result<Triggers, BadRequest> =>
  Result.map(
    Result.all(
      functions.map((fn) =>
        isName(fn.ns) && isName(fn.var)
          ? Result.mapError(readTriggers(fn, fn.meta), ({ field, reason }) => badMeta(fn, field, reason))
          : Result.fail(badName(fn))
      )
    ),
    (all) => ({
      functions: all.flatMap((it) => it.functions),
      handlers: all.flatMap((it) => it.handlers),
      schedules: all.flatMap((it) => it.schedules),
      endpoints: all.flatMap((it) => it.endpoints),
      tools: all.flatMap((it) => it.tools),
      resources: all.flatMap((it) => it.resources),
      prompts: all.flatMap((it) => it.prompts),
      failures: all.flatMap((it) => it.failures)
    })
  )

const rejectDuplicates = <A extends FunctionRef>(
  entries: ReadonlyArray<A>,
  field: string,
  nameOf: (entry: A) => string
): Result.Result<void, BadRequest> => {
  const owners = new Map<string, A>()
  for (const entry of entries) {
    const name = nameOf(entry)
    const owner = owners.get(name)
    if (owner !== undefined) {
      return Result.fail(badMeta(entry, field, `claims ${name}, which ${owner.ns}/${owner.var} claims already`))
    }
    owners.set(name, entry)
  }
  return Result.succeed(undefined)
}

/** Checks that the build has the functions that complete arguments. */
const checkCompletions = ({ functions, resources, prompts }: Triggers): Result.Result<void, BadRequest> => {
  const known = new Set(functions.map((fn) => `${fn.ns}/${fn.var}`))
  for (const resource of resources) {
    for (const [variable, completion] of Object.entries(resource.complete)) {
      if (!isKnown(known, completion)) return noFunction(resource, `resource.complete.${variable}`, completion)
    }
  }
  for (const prompt of prompts) {
    for (const [index, { complete }] of prompt.arguments.entries()) {
      if (complete !== undefined && !isKnown(known, complete)) {
        return noFunction(prompt, `prompt.arguments[${index}].complete`, complete)
      }
    }
  }
  return Result.succeed(undefined)
}

const isKnown = (known: ReadonlySet<string>, completion: Completion): boolean =>
  typeof completion !== "string" || known.has(completion)

const noFunction = (fn: FunctionRef, field: string, completion: Completion) =>
  Result.fail(badMeta(fn, field, `must be a function of the build (got ${JSON.stringify(completion)})`))

const isName = (text: string): boolean => text.length <= nameLengthMax && isStorable(text)

const tooMany = new BadRequest({
  reason: `meta.event and meta.schedule of all functions name over ${triggersMax} event types and schedules`
})

const badName = (fn: FunctionRef): BadRequest => {
  const shown = JSON.stringify(`${fn.ns.slice(0, nameLengthMax)}/${fn.var.slice(0, nameLengthMax)}`)
  return new BadRequest({
    reason: `The name of the function ${shown} must be valid Unicode, without U+0000: up to ${nameLengthMax} characters in each part`
  })
}

export const badMeta = (fn: FunctionRef, field: string, reason: string): BadRequest =>
  new BadRequest({ reason: `${fn.ns}/${fn.var}: meta${field === "" ? "" : `.${field}`} ${reason}` })
