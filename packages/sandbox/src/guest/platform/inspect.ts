/**
 * Formats values for logs, as Node does: on one line if it fits, cycles marked, getters not called.
 *
 * Values may be hostile. Formatting costs only the guest's own time, and every dimension is bounded except the depth of
 * prototypes.
 */
import { inspectCustom } from "./define.ts"
import { functionLabel, keyText, nameOf, scalarText } from "./inspect-scalars.ts"

/** Default depth: deeper objects are shown only by name. */
const depthDefault = 4
const itemsMax = 100
/** Maximum length of an array whose other properties are shown. */
const keysMax = 10_000
/** Maximum length of a line with several entries. */
const lineMax = 76

type CustomInspect = (
  depth: number,
  options: { readonly depth: number },
  inspect: (value: unknown) => string
) => unknown

/** `objectsMax` is the number of objects after which the others are shown only by name. */
export const inspect = (
  value: unknown,
  depth: number = depthDefault,
  objectsMax: number = Number.POSITIVE_INFINITY
): string => new Inspection(depth, objectsMax).show(value)

/** State of one call of `inspect`: the stack of open objects. */
class Inspection {
  readonly #depth: number
  readonly #open: Array<object> = []
  /** Objects that contain themselves, with their reference numbers. */
  readonly #cycles = new Map<object, number>()

  #objectsLeft: number

  constructor(depth: number, objectsMax: number) {
    this.#depth = depth
    this.#objectsLeft = objectsMax
  }

  show(value: unknown): string {
    return typeof value === "object" || typeof value === "function" ? this.#showObject(value) : scalarText(value)
  }

  #showObject(value: object | null): string {
    if (value === null) {
      return "null"
    }
    if (this.#open.includes(value)) {
      const number = this.#cycles.get(value) ?? this.#cycles.size + 1
      this.#cycles.set(value, number)
      return `[Circular *${number}]`
    }
    this.#open.push(value)
    this.#objectsLeft--
    const text = this.#showCustom(value) ?? this.#showPlain(value)
    this.#open.pop()
    const number = this.#cycles.get(value)
    return number === undefined ? text : `<ref *${number}> ${text}`
  }

  #showCustom(value: object): string | null {
    const custom: unknown = Reflect.get(value, inspectCustom)
    if (typeof custom !== "function") {
      return null
    }
    const left = this.#depth - this.#open.length
    const inspectCustomized: CustomInspect = (...args) => Reflect.apply(custom, value, args)
    const shown = inspectCustomized(left, { depth: left }, (inner) => inspect(inner, left))
    return shown === value ? null : typeof shown === "string" ? shown : this.show(shown)
  }

  #showPlain(value: object): string {
    if (Array.isArray(value)) {
      const label = nameOf(value) === "Array" ? "" : `${nameOf(value)}(${value.length}) `
      return this.#block(value, label, "[]", () => [...this.#items(value), ...this.#properties(value, true)])
    }
    if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
      return this.#typedArray(value)
    }
    if (value instanceof Map) {
      return this.#block(value, `${nameOf(value)}(${value.size}) `, "{}", () => [
        ...limited(value, value.size, ([key, item]) => `${this.show(key)} => ${this.show(item)}`),
        ...this.#properties(value, false)
      ])
    }
    if (value instanceof Set) {
      return this.#block(value, `${nameOf(value)}(${value.size}) `, "{}", () => [
        ...limited(value, value.size, (item) => this.show(item)),
        ...this.#properties(value, false)
      ])
    }
    return this.#showByLabel(value)
  }

  /** Formats objects that have a label for their value, and possibly properties. */
  #showByLabel(value: object): string {
    const label = value instanceof Error ? this.#error(value) : (functionLabel(value) ?? boxedLabel(value))
    if (label !== null) {
      const entries = this.#isTooDeep() ? [] : this.#properties(value, value instanceof String)
      return entries.length === 0 ? label : lines(`${label} `, "{}", entries)
    }
    const name = nameOf(value)
    if (value instanceof ArrayBuffer) {
      return this.#block(value, `${name} `, "{}", () => [
        `[Uint8Contents]: <${hex(value)}>`,
        `[byteLength]: ${value.byteLength}`
      ])
    }
    if (value instanceof WeakMap || value instanceof WeakSet) {
      return `${name} { <items unknown> }`
    }
    return this.#block(value, name === "Object" ? "" : `${name} `, "{}", () => this.#properties(value, false))
  }

  #isTooDeep(): boolean {
    return this.#open.length > this.#depth + 1 || this.#objectsLeft < 0
  }

  #block(value: object, label: string, braces: string, entries: () => ReadonlyArray<string>): string {
    if (this.#isTooDeep()) {
      return `[${nameOf(value)}]`
    }
    return lines(label, braces, entries())
  }

  #error(error: Error): string {
    const stack: unknown = error.stack
    const text = typeof stack === "string" && stack !== "" ? stack : `[${String(error)}]`
    const hidden = ["cause", "errors"].filter((key) => Object.hasOwn(error, key) && !isEnumerable(error, key))
    if (hidden.length === 0 || this.#isTooDeep()) {
      return text
    }
    const entries = hidden.map((key) => `[${key}]: ${this.show(Reflect.get(error, key))}`)
    return lines(`${text} `, "{}", entries)
  }

  *#items(value: ReadonlyArray<unknown>): Iterable<string> {
    let holes = 0
    const shown = Math.min(value.length, itemsMax)
    for (let index = 0; index <= shown; index++) {
      if (index < shown && !Object.hasOwn(value, index)) {
        holes++
        continue
      }
      if (holes > 0) {
        yield `<${holes} empty item${holes === 1 ? "" : "s"}>`
        holes = 0
      }
      if (index < shown) {
        yield this.#property(value, String(index))
      }
    }
    yield* more(value.length - shown)
  }

  #typedArray(value: ArrayBufferView): string {
    const items: unknown = Reflect.get(value, "length")
    const length = typeof items === "number" ? items : 0
    return this.#block(value, `${nameOf(value)}(${length}) `, "[]", () => {
      const shown = Math.min(length, itemsMax)
      const texts = Array.from({ length: shown }, (_, index) => scalarText(Reflect.get(value, index)))
      return [...texts, ...more(length - shown)]
    })
  }

  /** Formats own enumerable properties as "key: value", without the items of arrays and the characters of strings. */
  #properties(value: object, isArray: boolean): Array<string> {
    // The keys of a large array would need more memory than the array.
    if (isArray && Reflect.get(value, "length") > keysMax) {
      return []
    }
    const keys = Reflect.ownKeys(value).filter(
      (key) => isEnumerable(value, key) && !(isArray && typeof key === "string" && /^(?:0|[1-9]\d*)$/.test(key))
    )
    return limited(keys, keys.length, (key) => `${keyText(key)}: ${this.#property(value, key)}`)
  }

  #property(value: object, key: string | symbol): string {
    const property = Object.getOwnPropertyDescriptor(value, key)
    if (property?.get !== undefined) {
      return property.set === undefined ? "[Getter]" : "[Getter/Setter]"
    }
    if (property?.set !== undefined) {
      return "[Setter]"
    }
    return this.show(property?.value)
  }
}

const isEnumerable = (value: object, key: string | symbol): boolean =>
  Object.prototype.propertyIsEnumerable.call(value, key)

const more = (count: number): ReadonlyArray<string> =>
  count > 0 ? [`... ${count} more item${count === 1 ? "" : "s"}`] : []

const limited = <A>(items: Iterable<A>, size: number, show: (item: A) => string): Array<string> => {
  const texts: Array<string> = []
  for (const item of items) {
    if (texts.length === itemsMax) {
      break
    }
    texts.push(show(item))
  }
  return [...texts, ...more(size - texts.length)]
}

const boxedLabel = (value: object): string | null => {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()
  }
  if (value instanceof RegExp) {
    return String(value)
  }
  for (const kind of [Number, String, Boolean, BigInt, Symbol]) {
    if (value instanceof kind) {
      return `[${kind.name}: ${scalarText(value.valueOf())}]`
    }
  }
  return null
}

const hex = (buffer: ArrayBuffer): string => {
  const shown = new Uint8Array(buffer, 0, Math.min(buffer.byteLength, 50))
  const text = Array.from(shown, (byte) => byte.toString(16).padStart(2, "0")).join(" ")
  const left = buffer.byteLength - shown.length
  return left > 0 ? `${text} ... ${left} more byte${left === 1 ? "" : "s"}` : text
}

const indent = (text: string): string => text.replace(/\n/g, "\n  ")

/** Formats entries between braces: on one line, or one per line. Many short ones share lines. */
const lines = (label: string, braces: string, entries: ReadonlyArray<string>): string => {
  const [open, close] = [braces.charAt(0), braces.charAt(1)]
  if (entries.length === 0) {
    return label + open + close
  }
  const width = entries.reduce((sum, entry) => sum + entry.length + 2, label.includes("\n") ? 0 : label.length)
  if (width <= lineMax && !entries.some((entry) => entry.includes("\n"))) {
    return `${label}${open} ${entries.join(", ")} ${close}`
  }
  const isList = open === "[" && entries.length > 6 && entries.slice(0, -1).every((entry) => entry.length <= 16)
  const rows = isList ? filled(entries) : entries.map(indent)
  return `${label}${open}\n  ${rows.join(",\n  ")}\n${close}`
}

const filled = (entries: ReadonlyArray<string>): Array<string> => {
  const rows: Array<string> = []
  let row = ""
  for (const entry of entries) {
    if (row !== "" && row.length + entry.length + 2 > lineMax) {
      rows.push(row)
      row = ""
    }
    row += row === "" ? entry : `, ${entry}`
  }
  return [...rows, row]
}
