/** Services that alternate between two releases with each call. */
import * as errors from "@weft/core"
import * as today from "@weft/core/adapter"
import { toCurrentRecords, toFormerRecords, withFormerRecords } from "@weft/tooling/previous-fields"
import { Context, Effect, Layer } from "effect"
import { className } from "./Former.ts"
import { previous } from "./PreviousRelease.ts"

/**
 * Returns stores whose methods alternate between the previous and the current release, as if nodes of both took part.
 * Methods that the previous release lacks are always the current ones. Services of `apart` do not alternate.
 */
export const byTurns = <E1, E2>(
  older: Layer.Layer<today.Stores, E1>,
  newer: Layer.Layer<today.Stores, E2>,
  apart: ReadonlyArray<string>
): Layer.Layer<today.Stores, E1 | E2> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const old = yield* Layer.build(older)
      const current = yield* Layer.build(newer)
      const known = new Map<string, unknown>([
        ...current.mapUnsafe,
        [today.JournalStore.key, journalAsFormer(Context.get(current, today.JournalStore))],
        [today.ProjectStore.key, projectsAsFormer(Context.get(current, today.ProjectStore))]
      ])
      const formerKeys = new Map([...old.mapUnsafe.keys()].map((key) => [className(key), key]))
      const services = [...known].flatMap(([key, service]): ReadonlyArray<readonly [string, unknown]> => {
        const formerKey = formerKeys.get(className(key)) ?? key
        const former: unknown = old.mapUnsafe.get(formerKey)
        const isApart = apart.includes(key) || !isObject(former) || !isObject(service)
        const shared = isApart ? service : mixed(former, service)
        return [
          [key, shared],
          [formerKey, shared]
        ]
      })
      return Context.makeUnsafe<today.Stores>(new Map(services))
    })
  )

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Methods that have another name in the previous release. */
const renamed: ReadonlyMap<string | symbol, string> = new Map([
  ["dueAnnouncements", "dueHookJobs"],
  ["updateAnnouncement", "updateHookJob"],
  ["removeAnnouncement", "removeHookJob"],
  ["look", "findPendingWork"],
  ["leave", "endLease"],
  ["announce", "reserve"],
  ["takeLoose", "claimExpired"],
  ["forget", "release"]
])

/** Each node has its own claim cursor, so all claims of a check use the same release. */
const fixedPerCheck = "claim"

/** Methods whose current results have more fields than the previous release's contract knows. */
const alwaysPrevious = ["look"]

let built = 0

const mixed = (former: object, service: object): object => {
  const claimsAsFormer = built++ % 2 === 0
  let uses = 0
  const isFormers = (name: string | symbol): boolean => {
    if (!(name in former)) return false
    if (name === fixedPerCheck) return claimsAsFormer
    return alwaysPrevious.includes(String(name)) || uses++ % 2 === 0
  }
  return new Proxy(service, {
    get: (target, name) =>
      isFormers(name)
        ? withFormerRecords(Reflect.get(former, name))
        : withFormerResults(Reflect.get(target, name in target ? name : (renamed.get(name) ?? name)))
  })
}

/** Returns the current journal as the previous release's contract knows it, without freed and unparked groups. */
const journalAsFormer = (journal: today.JournalStore["Service"]): object => ({
  ...journal,
  claim: (request: Omit<today.ClaimRequest, "freed">) =>
    Effect.map(journal.claim({ freed: [], ...request }), ({ unparked: _, ...claimed }) => claimed)
})

/** Returns the current projects as the previous release's contract knows them: without the time of a removal. */
const projectsAsFormer = (projects: today.ProjectStore["Service"]): object => ({
  ...projects,
  remove: (envId: errors.EnvId, id: today.ProjectId) => projects.remove(envId, id, today.Timestamp.make(0))
})

/** Returns a method or query whose results are instances of the previous release's classes, as its contract expects. */
const withFormerResults = (member: unknown): unknown => {
  if (typeof member === "function") {
    return (...args: ReadonlyArray<unknown>) =>
      withFormerResults(
        Reflect.apply(
          member,
          undefined,
          args.map((argument) => toCurrentRecords(toCurrentTerms(argument)))
        )
      )
  }
  return Effect.isEffect(member)
    ? Effect.mapBoth(member, { onFailure: asFormer, onSuccess: (value) => toFormerRecords(asFormer(value)) })
    : member
}

/** Adds the current name of a field of `StoreTerms`. */
const toCurrentTerms = (argument: unknown): unknown =>
  isObject(argument) && "looseUntil" in argument ? { ...argument, reclaimAt: argument.looseUntil } : argument

const listPrototypes = (module: object): ReadonlyMap<string, object> =>
  new Map(
    Object.entries(module).flatMap(
      ([name, value]): ReadonlyArray<readonly [string, object]> =>
        typeof value === "function" && isObject(value.prototype) ? [[name, value.prototype]] : []
    )
  )

const formerPrototypes = listPrototypes(previous.core)
const formerByPrototype = new Map(
  [...listPrototypes(today), ...listPrototypes(errors)].flatMap(([name, prototype]) => {
    const former = formerPrototypes.get(name)
    return former === undefined ? [] : [[prototype, former]]
  })
)

const asFormer = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asFormer)
  if (!isObject(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  const former = isObject(prototype) ? formerByPrototype.get(prototype) : undefined
  if (former === undefined && prototype !== Object.prototype) return value
  const fields = Object.entries(value).map(([name, field]) => [name, asFormer(field)])
  return Object.assign(Object.create(former ?? Object.prototype), Object.fromEntries(fields))
}
