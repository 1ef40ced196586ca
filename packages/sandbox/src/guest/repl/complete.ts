/** Completion of names and members, without a call of user code: getters are not called. */

/** Candidates for the text from `from` to the cursor. */
export interface Completion {
  readonly from: number
  readonly candidates: ReadonlyArray<string>
}

const candidatesMax = 200
const prototypesMax = 20
/** Characters before the cursor that are considered. */
const lookBack = 1000

const path = /((?:[\p{ID_Start}$_][\p{ID_Continue}$]*\??\.)*)([\p{ID_Start}$_][\p{ID_Continue}$]*)?$/u
const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u

/** Returns the getters that exist now on an object and its prototypes. Those of the platform are safe to call. */
export const listGetters = (start: object): ReadonlyArray<() => unknown> =>
  listHolders(start).flatMap((holder) =>
    Reflect.ownKeys(holder).flatMap((key) => Object.getOwnPropertyDescriptor(holder, key)?.get ?? [])
  )

export class Completer {
  readonly #safeGetters = new Set<() => unknown>()
  readonly #declared: ReadonlySet<string>

  /** @param declared names that inputs of the session declared */
  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared
  }

  /** Allows calls of these getters. */
  trust(getters: ReadonlyArray<() => unknown>): void {
    for (const getter of getters) this.#safeGetters.add(getter)
  }

  complete(source: string, cursor: number): Completion {
    const before = source.slice(Math.max(0, cursor - lookBack), cursor)
    const found = path.exec(before)
    const members = found?.[1] ?? ""
    const prefix = found?.[2] ?? ""
    const from = cursor - prefix.length
    // The object is a result, such as that of a call: it is unknown without running it.
    if (/[.\w$]$/.test(before.slice(0, found?.index))) return { from, candidates: [] }
    const names = members.split(/\??\./).slice(0, -1)
    if (names.length === 0) return { from, candidates: pick(this.#globalNames(prefix), prefix) }
    let value: unknown = globalThis
    for (const name of names) value = this.#read(value, name)
    return { from, candidates: value === undefined || value === null ? [] : pick(namesOf(Object(value)), prefix) }
  }

  #globalNames(prefix: string): ReadonlyArray<string> {
    return prefix === "" ? [...this.#declared, "svc", "console"] : [...this.#declared, ...namesOf(globalThis)]
  }

  /** Reads a property of an object or of its prototypes; undefined behind a getter of user code. */
  #read(value: unknown, name: string): unknown {
    if (value === undefined || value === null) return undefined
    for (const holder of listHolders(Object(value))) {
      const property = Object.getOwnPropertyDescriptor(holder, name)
      if (property === undefined) continue
      const { get } = property
      if (get === undefined) return property.value
      return this.#safeGetters.has(get) ? Reflect.apply(get, value, []) : undefined
    }
    return undefined
  }
}

/** Returns the object and its prototypes. */
const listHolders = (start: object): ReadonlyArray<object> => {
  const holders: Array<object> = []
  let holder: object | null = start
  while (holder !== null && holders.length < prototypesMax) {
    holders.push(holder)
    holder = Object.getPrototypeOf(holder)
  }
  return holders
}

const namesOf = (value: object): ReadonlyArray<string> =>
  listHolders(value).flatMap((holder) => Reflect.ownKeys(holder).filter((key) => typeof key === "string"))

const pick = (names: ReadonlyArray<string>, prefix: string): ReadonlyArray<string> =>
  [...new Set(names)]
    .filter((name) => name.startsWith(prefix) && identifier.test(name))
    .filter((name) => prefix.startsWith("__") || !name.startsWith("__"))
    .sort()
    .slice(0, candidatesMax)
