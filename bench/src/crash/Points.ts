/**
 * Points at which a server may be told to die: before and after each call of each store, of the blobs, of the feed, and
 * of what a guest asks for. They are found by wrapping whole services, so that no code of Weft knows of them.
 */
import { Context, Effect, Layer } from "effect"

/**
 * - `end`: the process ends itself with SIGKILL.
 * - `pause`: it tells whoever ordered it, and waits until it is told to go on.
 * - `endRunners`: the processes in which guests run are ended with SIGKILL, and the server goes on.
 */
export type Deed = "end" | "pause" | "endRunners"

export interface Order {
  /** Such as `JournalStore.commit Appended, before`. */
  readonly point: string
  readonly deed: Deed
}

/** For the first time that a point is passed. */
export class Points {
  #order: Order | null = null
  #passed = new Set<string>()
  readonly #act: (deed: Deed) => Effect.Effect<void>

  constructor(act: (deed: Deed) => Effect.Effect<void>) {
    this.#act = act
  }

  /** Gives whether there was one before it that is not carried out. */
  set(order: Order | null): boolean {
    const wasLeft = this.#order !== null
    this.#order = order
    return wasLeft
  }

  /** What was passed since this was asked for. */
  takePassed(): ReadonlyArray<string> {
    const passed = [...this.#passed]
    this.#passed = new Set()
    return passed
  }

  around<A, E, R>(names: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => this.#at(names, "before")).pipe(
      Effect.andThen(effect),
      Effect.tap((result) => (isNothing(result) ? Effect.void : this.#at(names, "after")))
    )
  }

  /** The service with points around each of its methods. */
  wrap<S extends object>(name: string, service: S): S {
    return new Proxy(service, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property)
        if (typeof property !== "string") return value
        if (Effect.isEffect(value)) return this.around([`${name}.${property}`], value)
        if (typeof value !== "function") return value
        return (...args: ReadonlyArray<unknown>) => {
          const result: unknown = Reflect.apply(value, target, args)
          return Effect.isEffect(result) ? this.around(namesOf(`${name}.${property}`, args[0]), result) : result
        }
      }
    })
  }

  /** The service with some of its methods replaced. */
  over<S extends object>(service: S, methods: Partial<S>): S {
    return new Proxy(service, {
      get: (target, property) =>
        Object.hasOwn(methods, property) ? Reflect.get(methods, property) : Reflect.get(target, property)
    })
  }

  /** All services that a layer has, each wrapped. */
  wrapAll<A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> {
    return Layer.effectContext(
      Effect.map(Layer.build(layer), ({ mapUnsafe }) =>
        Context.makeUnsafe<A>(
          new Map(
            [...mapUnsafe].map(([key, service]) => [key, this.wrap(key.slice(key.lastIndexOf("/") + 1), service)])
          )
        )
      )
    )
  }

  #at(names: ReadonlyArray<string>, when: "before" | "after"): Effect.Effect<void> {
    const points = names.map((name) => `${name}, ${when}`)
    for (const point of points) this.#passed.add(point)
    const order = this.#order
    if (order === null || !points.includes(order.point)) return Effect.void
    this.#order = null
    return this.#act(order.deed)
  }
}

/** A commit is named by what is in it: to lose an event is another matter than to lose the end of a run. */
const namesOf = (method: string, entries: unknown): ReadonlyArray<string> => {
  if (!Array.isArray(entries)) return [method]
  const tags = new Set<string>()
  for (const entry of entries) if (typeof entry?._tag === "string") tags.add(entry._tag)
  return tags.size === 0 ? [method] : [...tags].map((tag) => `${method} ${tag}`)
}

/** A claim of nothing, as idle nodes make it: there is nothing to lose after it. */
const isNothing = (result: unknown): boolean => {
  if (Array.isArray(result)) return result.length === 0
  if (typeof result !== "object" || result === null || !("claims" in result)) return false
  return Array.isArray(result.claims) && result.claims.length === 0
}
