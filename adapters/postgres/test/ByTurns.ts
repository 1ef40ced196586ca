/** Services of two versions as one: each use of a service is the business of the one version and the other by turns. */
import * as today from "@weft/core"
import { Context, Effect, Layer } from "effect"
import * as previous from "./fixtures/previous/index.js"

/**
 * Stores of which every method is by turns the older version's and today's, as when nodes of both take part in what is
 * done. What the older one has not is today's alone. Services of `apart` are each node's own.
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
        [today.JournalStore.key, journalAsFormer(Context.get(current, today.JournalStore))]
      ])
      const services = [...known].map(([key, service]): readonly [string, unknown] => {
        const former: unknown = old.mapUnsafe.get(key)
        return [key, apart.includes(key) || !isObject(former) || !isObject(service) ? service : mixed(former, service)]
      })
      return Context.makeUnsafe<today.Stores>(new Map(services))
    })
  )

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** Each node remembers whose turn it is when it claims next: in one check all claims are one node's. */
const ofOneNode = "claim"

/** What today tells more of than the older version's contract knows. */
const ofTheOlder = ["look"]

let built = 0

const mixed = (former: object, service: object): object => {
  const claimsAsFormer = built++ % 2 === 0
  let uses = 0
  const isFormers = (name: string | symbol): boolean => {
    if (!(name in former)) return false
    if (name === ofOneNode) return claimsAsFormer
    return ofTheOlder.includes(String(name)) || uses++ % 2 === 0
  }
  return new Proxy(service, {
    get: (target, name) => (isFormers(name) ? Reflect.get(former, name) : answeringAsFormer(Reflect.get(target, name)))
  })
}

/** Today's as the older version's contract knows it: its claims free no groups, and tell of none. */
const journalAsFormer = (journal: today.JournalStore["Service"]): object => ({
  ...journal,
  claim: (request: Omit<today.ClaimRequest, "freed">) =>
    Effect.map(journal.claim({ freed: [], ...request }), ({ unparked: _, ...claimed }) => claimed)
})

/** A method, or a query, of today whose answers are made of the older version's classes, as its contract expects. */
const answeringAsFormer = (member: unknown): unknown => {
  if (typeof member === "function") {
    return (...args: ReadonlyArray<unknown>) => answeringAsFormer(Reflect.apply(member, undefined, args))
  }
  return Effect.isEffect(member) ? Effect.mapBoth(member, { onFailure: asFormer, onSuccess: asFormer }) : member
}

const prototypesOf = (module: object): ReadonlyMap<string, object> =>
  new Map(
    Object.entries(module).flatMap(
      ([name, value]): ReadonlyArray<readonly [string, object]> =>
        typeof value === "function" && isObject(value.prototype) ? [[name, value.prototype]] : []
    )
  )

const formerPrototypes = prototypesOf(previous.core)
const formerOf = new Map(
  [...prototypesOf(today)].flatMap(([name, prototype]) => {
    const former = formerPrototypes.get(name)
    return former === undefined ? [] : [[prototype, former]]
  })
)

const asFormer = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asFormer)
  if (!isObject(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  const former = isObject(prototype) ? formerOf.get(prototype) : undefined
  if (former === undefined && prototype !== Object.prototype) return value
  const fields = Object.entries(value).map(([name, field]) => [name, asFormer(field)])
  return Object.assign(Object.create(former ?? Object.prototype), Object.fromEntries(fields))
}
