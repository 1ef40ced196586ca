/**
 * `node:async_hooks`: `AsyncLocalStorage` and `AsyncResource`, also across awaits.
 *
 * V8 has no hook for awaits that a guest could use. If a build imports this module, the bundler compiles its async functions
 * to generators, which continue by `Promise.prototype.then`. This module replaces that method and the timers: a callback
 * runs with the stores of the code that registered it.
 */

type Stores = ReadonlyMap<AsyncLocalStorage<unknown>, unknown>
type Callback = (...given: ReadonlyArray<unknown>) => unknown

const empty: Stores = new Map()

let current: Stores = empty
/** The `svc` of the run that set `current`. Stores of `enterWith` end with their run. */
let owner: unknown

const run = (): unknown => Reflect.get(globalThis, "svc")

const stores = (): Stores => (owner === run() ? current : empty)

const within = <A>(next: Stores, body: () => A): A => {
  const [before, ownerBefore] = [current, owner]
  current = next
  owner = run()
  try {
    return body()
  } finally {
    current = before
    owner = ownerBefore
  }
}

/** Returns the callback with the current stores. Without stores, the callback itself. */
const bound = (callback: unknown): unknown => {
  const captured = stores()
  if (typeof callback !== "function" || captured === empty) return callback
  return function (this: unknown, ...given: ReadonlyArray<unknown>): unknown {
    return within(captured, () => Reflect.apply(callback, this, given))
  }
}

const then = Promise.prototype.then

const replace = (target: object, name: string, value: object): void => {
  Object.defineProperty(value, "name", { value: name, configurable: true })
  Object.defineProperty(target, name, { value, writable: true, configurable: true })
}

replace(Promise.prototype, "then", function (this: Promise<unknown>, fulfilled: unknown, rejected: unknown): unknown {
  return Reflect.apply(then, this, [bound(fulfilled), bound(rejected)])
})

for (const name of ["setTimeout", "setInterval", "queueMicrotask"]) {
  const original: unknown = Reflect.get(globalThis, name)
  if (typeof original !== "function") continue
  replace(globalThis, name, (callback: unknown, ...rest: ReadonlyArray<unknown>): unknown =>
    Reflect.apply(original, undefined, [bound(callback), ...rest])
  )
}

export class AsyncLocalStorage<Store> {
  readonly name: string
  readonly #defaultValue: Store | undefined

  constructor(options: { readonly name?: string; readonly defaultValue?: Store } = {}) {
    this.name = options.name ?? ""
    this.#defaultValue = options.defaultValue
  }

  static bind<F extends Callback>(fn: F): Callback {
    const inScope = AsyncLocalStorage.snapshot()
    return (...given) => inScope(fn, ...given)
  }

  static snapshot(): (fn: Callback, ...given: ReadonlyArray<unknown>) => unknown {
    const captured = stores()
    return (fn, ...given) => within(captured, () => fn(...given))
  }

  getStore(): Store | undefined {
    const found = stores()
    // The map's keys decide the types of its values.
    return found.has(this) ? (found.get(this) as Store | undefined) : this.#defaultValue
  }

  run<A>(store: Store, body: (...given: ReadonlyArray<unknown>) => A, ...given: ReadonlyArray<unknown>): A {
    return within(new Map(stores()).set(this, store), () => body(...given))
  }

  exit<A>(body: (...given: ReadonlyArray<unknown>) => A, ...given: ReadonlyArray<unknown>): A {
    return within(this.#without(), () => body(...given))
  }

  enterWith(store: Store): void {
    current = new Map(stores()).set(this, store)
    owner = run()
  }

  disable(): void {
    current = this.#without()
    owner = run()
  }

  #without(): Stores {
    const next = new Map(stores())
    next.delete(this)
    return next
  }
}

let lastId = 1

export class AsyncResource {
  readonly type: string
  readonly #stores = stores()
  readonly #id = ++lastId

  constructor(type: string) {
    this.type = type
  }

  static bind(fn: Callback): Callback {
    return new AsyncResource("bound").bind(fn)
  }

  bind(fn: Callback): Callback {
    const resource = this
    return function (this: unknown, ...given) {
      return resource.runInAsyncScope(fn, this, ...given)
    }
  }

  runInAsyncScope<A>(fn: (...given: ReadonlyArray<unknown>) => A, self?: unknown, ...given: ReadonlyArray<unknown>): A {
    return within(this.#stores, () => Reflect.apply(fn, self, given))
  }

  emitDestroy(): this {
    return this
  }

  asyncId(): number {
    return this.#id
  }

  triggerAsyncId(): number {
    return 1
  }
}

export const createHook = () => {
  const hook = { enable: () => hook, disable: () => hook }
  return hook
}
export const executionAsyncId = (): number => 1
export const triggerAsyncId = (): number => 0
export const executionAsyncResource = (): object => ({})
export const asyncWrapProviders = Object.freeze({})

export default {
  AsyncLocalStorage,
  AsyncResource,
  asyncWrapProviders,
  createHook,
  executionAsyncId,
  executionAsyncResource,
  triggerAsyncId
}
