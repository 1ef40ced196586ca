/**
 * Points at which a server may crash: before and after each call of a store, the blobs or the cluster bus. Host calls of
 * guests have points as well. Services are wrapped as a whole, so no code of Weft knows about the points.
 */
import { Context, Effect, Layer } from "effect"
import { isEmptyResult, nameCall, nameResult } from "./PointNames.ts"

/**
 * - `kill`: the process sends SIGKILL to itself.
 * - `pause`: the process reports that it is at the point, and waits for `resume`.
 * - `killRunners`: the process sends SIGKILL to its runners and continues.
 */
export type PointAction = "kill" | "pause" | "killRunners"

export interface Trigger {
  /** For example `JournalStore.commit Appended, before`. */
  readonly point: string
  readonly action: PointAction
}

/** Records the points that are passed. The trigger fires once, when its point is passed for the first time. */
export class Points {
  #trigger: Trigger | null = null
  /** Names of the calls that were passed, by their text. */
  #passed = new Map<string, ReadonlyArray<string>>()
  readonly #act: (action: PointAction) => Effect.Effect<void>

  constructor(act: (action: PointAction) => Effect.Effect<void>) {
    this.#act = act
  }

  set(trigger: Trigger | null): void {
    this.#trigger = trigger
  }

  /** Returns the points that were passed since the last call. Points of the same moment are together. */
  takePassed(): ReadonlyArray<ReadonlyArray<string>> {
    const passed = [...this.#passed.values()]
    this.#passed = new Map()
    return passed
  }

  around<A, E, R>(names: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => this.#at(names, "before")).pipe(
      Effect.andThen(effect),
      Effect.tap((result) =>
        isEmptyResult(result)
          ? Effect.void
          : this.#at([...names, ...names.flatMap((name) => nameResult(name, result))], "after")
      )
    )
  }

  /** Wraps a service with points around each of its methods. */
  wrap<S extends object>(name: string, service: S): S {
    return new Proxy(service, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property)
        if (typeof property !== "string") return value
        if (Effect.isEffect(value)) return this.around([`${name}.${property}`], value)
        if (typeof value !== "function") return value
        return (...args: ReadonlyArray<unknown>) => {
          const result: unknown = Reflect.apply(value, target, args)
          return Effect.isEffect(result) ? this.around(nameCall(`${name}.${property}`, args[0]), result) : result
        }
      }
    })
  }

  /** Replaces some methods of a service. */
  override<S extends object>(service: S, methods: Partial<S>): S {
    return new Proxy(service, {
      get: (target, property) =>
        Object.hasOwn(methods, property) ? Reflect.get(methods, property) : Reflect.get(target, property)
    })
  }

  /** Wraps all services of a layer. */
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
    this.#passed.set(points.join(), points)
    const trigger = this.#trigger
    if (trigger === null || !points.includes(trigger.point)) return Effect.void
    this.#trigger = null
    return this.#act(trigger.action)
  }
}
