/**
 * Services of two releases in one context. The key of a service carries the path of its file, and folders move between
 * releases. So each service has an entry under the key of the previous release, and one under the current key.
 */
import * as hosts from "@weft/core"
import * as adapters from "@weft/core/adapter"
import { Context, Effect, Layer } from "effect"
import { previous } from "./PreviousRelease.ts"

/** The last part of a service's key. */
export const className = (key: string): string => key.slice(key.lastIndexOf("/") + 1)

const listKeys = (module: object): ReadonlyArray<readonly [string, string]> =>
  Object.values(module).flatMap((value) =>
    typeof value === "function" && "key" in value && typeof value.key === "string"
      ? [[className(value.key), value.key] as const]
      : []
  )

const formerKeys: ReadonlyMap<string, string> = new Map(listKeys(previous.core))
const currentKeys: ReadonlyMap<string, string> = new Map([...listKeys(adapters), ...listKeys(hosts)])

/** The bus as the previous release knows it. */
const toFormerBus = (bus: adapters.ClusterBus["Service"]): object => ({
  ...bus,
  isHeard: bus.hasSubscribers,
  tell: bus.sendControl,
  news: bus.control,
  awaySince: bus.disconnectedSince,
  counted: bus.metrics
})

/** Adds every service under the key that the other release uses. */
export const forBoth = <Services>(context: Context.Context<Services>): Context.Context<Services> => {
  const services = new Map<string, unknown>(context.mapUnsafe)
  for (const [key, service] of context.mapUnsafe) {
    for (const keys of [formerKeys, currentKeys]) {
      const other = keys.get(className(key))
      if (other !== undefined && !services.has(other)) services.set(other, service)
    }
  }
  const bus = context.mapUnsafe.get(adapters.ClusterBus.key)
  const formerBus = formerKeys.get("Feed")
  if (bus !== undefined && formerBus !== undefined) {
    services.set(formerBus, toFormerBus(Context.getUnsafe(context, adapters.ClusterBus)))
  }
  return Context.makeUnsafe<Services>(services)
}

/** The layer with its services under the keys of both releases. */
export const layerForBoth = <Services, E, R>(layer: Layer.Layer<Services, E, R>): Layer.Layer<Services, E, R> =>
  Layer.effectContext(Effect.map(Layer.build(layer), forBoth))

/** Runs as a caller of both releases. */
export const asCaller = <A, E, R>(identity: hosts.Identity, effect: Effect.Effect<A, E, R>) =>
  Effect.provideContext(effect, forBoth(Context.make(hosts.Caller, identity)))
