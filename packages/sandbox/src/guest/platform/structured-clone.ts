/** `structuredClone`: a deep copy of plain data, including cycles. */

import { isPlatformObject, transfer } from "./define.ts"
import { DOMException } from "./dom-exception.ts"
import { modules } from "./modules.ts"

const cloneError = (what: string): DOMException => new DOMException(`${what} could not be cloned.`, "DataCloneError")

const errorConstructors: ReadonlyMap<string, ErrorConstructor> = new Map([
  ["EvalError", EvalError],
  ["RangeError", RangeError],
  ["ReferenceError", ReferenceError],
  ["SyntaxError", SyntaxError],
  ["TypeError", TypeError],
  ["URIError", URIError]
])

interface Layout {
  readonly offset: number
  readonly length: number
}

class Cloning {
  /** Copies of objects seen before, and replacements of transferred ones. */
  readonly #seen: Map<object, object>
  /** Positions of views in their buffers: a view loses its own when its buffer is transferred. */
  readonly #layouts: Map<ArrayBufferView, Layout>

  constructor(moved: Iterable<readonly [object, object]>, layouts: Map<ArrayBufferView, Layout>) {
    this.#seen = new Map(moved)
    this.#layouts = layouts
  }

  clone(value: unknown): unknown {
    if (typeof value === "symbol") {
      throw cloneError(String(value))
    }
    if (typeof value === "function") {
      throw cloneError(Function.prototype.toString.call(value))
    }
    return typeof value === "object" && value !== null ? this.#object(value) : value
  }

  #object(value: object): object {
    return this.#seen.get(value) ?? this.#wrapped(value) ?? this.#binary(value) ?? this.#container(value)
  }

  #remember<A extends object>(value: object, copy: A): A {
    this.#seen.set(value, copy)
    return copy
  }

  /** Clones objects that wrap one immutable value. */
  #wrapped(value: object): object | null {
    if (value instanceof Date) {
      return this.#remember(value, new Date(value.getTime()))
    }
    if (value instanceof RegExp) {
      return this.#remember(value, new RegExp(value.source, value.flags))
    }
    if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt) {
      return this.#remember(value, Object(value.valueOf()))
    }
    if (value instanceof Symbol) {
      throw cloneError("Object(Symbol())")
    }
    return this.#platform(value)
  }

  #platform(value: object): object | null {
    if (!isPlatformObject(value)) {
      return null
    }
    if (value instanceof DOMException) {
      const copy = new DOMException(value.message, value.name)
      Object.defineProperty(copy, "stack", { value: value.stack, writable: true, configurable: true })
      return this.#remember(value, copy)
    }
    const { Blob, cloneBlob } = modules.blob()
    if (value instanceof Blob) {
      return this.#remember(value, cloneBlob(value))
    }
    const { CryptoKey } = modules.cryptoKeys()
    if (value instanceof CryptoKey) {
      return this.#remember(value, value)
    }
    throw cloneError(`#<${Object.prototype.toString.call(value).slice(8, -1)}>`)
  }

  #binary(value: object): object | null {
    if (value instanceof ArrayBuffer) {
      if (value.detached) {
        throw cloneError("An ArrayBuffer is detached and")
      }
      const { resizable } = value
      const copy = resizable
        ? new ArrayBuffer(value.byteLength, { maxByteLength: value.maxByteLength })
        : new ArrayBuffer(value.byteLength)
      new Uint8Array(copy).set(new Uint8Array(value))
      return this.#remember(value, copy)
    }
    if (!ArrayBuffer.isView(value)) {
      return null
    }
    const constructor = viewConstructors.find((each) => value instanceof each)
    if (constructor === undefined) {
      throw cloneError("A view of an unknown kind")
    }
    const layout = this.#layouts.get(value) ?? readLayout(value)
    const copy: ArrayBufferView = Reflect.construct(constructor, [
      this.clone(value.buffer),
      layout.offset,
      layout.length
    ])
    this.#layouts.set(copy, layout)
    return this.#remember(value, copy)
  }

  #container(value: object): object {
    if (value instanceof Map) {
      const copy = this.#remember(value, new Map<unknown, unknown>())
      for (const [key, item] of [...value]) {
        copy.set(this.clone(key), this.clone(item))
      }
      return copy
    }
    if (value instanceof Set) {
      const copy = this.#remember(value, new Set<unknown>())
      for (const item of [...value]) {
        copy.add(this.clone(item))
      }
      return copy
    }
    if (value instanceof Error) {
      return this.#error(value)
    }
    if (uncloneable.some((constructor) => value instanceof constructor)) {
      throw cloneError(`#<${Object.prototype.toString.call(value).slice(8, -1)}>`)
    }
    const copy = this.#remember<object>(value, Array.isArray(value) ? new Array(value.length) : {})
    for (const key of Object.keys(value)) {
      Object.defineProperty(copy, key, {
        value: this.clone(Reflect.get(value, key)),
        writable: true,
        enumerable: true,
        configurable: true
      })
    }
    return copy
  }

  #error(error: Error): Error {
    const constructor = errorConstructors.get(String(error.name)) ?? Error
    const message = Object.getOwnPropertyDescriptor(error, "message")
    const hasMessage = message !== undefined && "value" in message
    const copy = this.#remember(error, hasMessage ? new constructor(String(message.value)) : new constructor())
    Object.defineProperty(copy, "stack", { value: error.stack, writable: true, configurable: true })
    if (Object.hasOwn(error, "cause")) {
      Object.defineProperty(copy, "cause", { value: this.clone(error.cause), writable: true, configurable: true })
    }
    return copy
  }
}

const readLayout = (view: ArrayBufferView): Layout => {
  const length: unknown = view instanceof DataView ? view.byteLength : Reflect.get(view, "length")
  return { offset: view.byteOffset, length: Number(length) }
}

const viewConstructors = [
  DataView,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array
]

const uncloneable = [Promise, WeakMap, WeakSet]

interface Movable {
  readonly [transfer]: () => object
}

const isMovable = (value: unknown): value is Movable => typeof value === "object" && value !== null && transfer in value

const requireTransferable = (value: unknown): ArrayBuffer | Movable => {
  if (isMovable(value)) {
    return value
  }
  if (!(value instanceof ArrayBuffer) || value.detached) {
    throw new DOMException("Value not transferable", "DataCloneError")
  }
  return value
}

/** Returns a deep copy of the value, and the objects that replace those in `listed`, in the same order. */
export const structuredCloneWith = (
  value: unknown,
  listed: Iterable<unknown>
): { readonly value: unknown; readonly moved: ReadonlyArray<object> } => {
  const given = [...listed].map(requireTransferable)
  if (new Set(given).size < given.length) {
    throw new DOMException("An object is listed twice for transfer", "DataCloneError")
  }
  // The first pass leaves the objects in place: they are moved only after everything proved cloneable.
  const layouts = new Map<ArrayBufferView, Layout>()
  const draft = new Cloning(
    given.map((each) => [each, each]),
    layouts
  ).clone(value)
  if (given.length === 0) {
    return { value: draft, moved: [] }
  }
  const moved = given.map((each) => (isMovable(each) ? each[transfer]() : each.transferToFixedLength()))
  const pairs = given.map((each, at): [object, object] => [each, moved[at] ?? each])
  return { value: new Cloning(pairs, layouts).clone(draft), moved }
}

/** Returns a deep copy. The objects in `transfer` are moved instead of copied. */
export const structuredClone = (value: unknown, options: { readonly transfer?: Iterable<unknown> } = {}): unknown =>
  structuredCloneWith(value, options?.transfer ?? []).value
