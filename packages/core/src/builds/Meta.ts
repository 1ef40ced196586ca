/** From the functions that the sandbox found in a build, with their `meta`, to what the build offers (decisions 5.1). */
import { Effect, Result, type Schema } from "effect"
import { BadRequest } from "../errors/Errors.ts"
import { HandlerId, ScheduleId } from "../ids/Ids.ts"
import { isStorable } from "../ids/StorableText.ts"
import type { ExportedFunction, FunctionRef } from "../sandbox/Sandbox.ts"
import { endpointName, type Manifest } from "./Manifest.ts"
import { isObject } from "./MetaFields.ts"
import { readTriggers, type Triggers } from "./Triggers.ts"

/** Where the ids of handlers and schedules come from. */
export type IdSource = <Id extends string>(schema: Schema.Codec<Id, string>) => Effect.Effect<Id>

/** Event types and schedules of a build. Each becomes an entry of its own, with all terms of its function. */
const triggersMax = 2000
/** Of a namespace and of a function's name in it, in characters: both are told with each trigger. */
const nameLengthMax = 256

/**
 * What a build offers, in the order of its functions. `BadRequest` names the first function whose metadata is
 * wrong as `ns/var`, the field and the reason; also when two functions claim one endpoint or one tool.
 */
export const readManifest = Effect.fnUntraced(function* (
  functions: ReadonlyArray<ExportedFunction>,
  freshId: IdSource
) {
  yield* Effect.fromResult(refuseMany(functions))
  const triggers = yield* Effect.fromResult(readAll(functions))
  const { endpoints, tools } = triggers
  yield* Effect.fromResult(
    Result.andThen(
      refuseTwice(endpoints, "webhook", endpointName),
      refuseTwice(tools, "tool", (it) => `the tool ${it.name} of ${it.service}`)
    )
  )
  return {
    functions: triggers.functions,
    handlers: yield* Effect.forEach(triggers.handlers, (handler) =>
      Effect.map(freshId(HandlerId), (event_handler_id) => ({ event_handler_id, ...handler }))
    ),
    schedules: yield* Effect.forEach(triggers.schedules, (schedule) =>
      Effect.map(freshId(ScheduleId), (schedule_id) => ({ schedule_id, ...schedule }))
    ),
    endpoints,
    tools
  } satisfies Manifest
})

/** Counted before they are read, which takes its time for each. */
const refuseMany = (functions: ReadonlyArray<ExportedFunction>): Result.Result<void, BadRequest> => {
  const declared = functions.reduce(
    (sum, { meta }) => (isObject(meta) ? sum + countOf(meta.event) + countOf(meta.schedule) : sum),
    0
  )
  return declared > triggersMax ? Result.fail(tooMany) : Result.succeed(undefined)
}

const countOf = (declared: unknown): number =>
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
      tools: all.flatMap((it) => it.tools)
    })
  )

const refuseTwice = <A extends FunctionRef>(
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
