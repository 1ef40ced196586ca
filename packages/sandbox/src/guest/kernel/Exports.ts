/** The exports of the bundle: functions in the namespace `main`, and objects of functions as further namespaces. */
import { namedError } from "./failures.ts"
import {
  defineProperty,
  getProperty,
  getPrototypeOf,
  isArray,
  isFinite,
  keys,
  mapGet,
  mapSet,
  NativeMap,
  ObjectPrototype,
  stringify
} from "./primordials.ts"
import type { KernelLimits } from "./Run.ts"
import { isLonger, utf8Bytes } from "./utf8.ts"

const metaDepthMax = 32
/** Maximum values in one `meta`; it bounds the walk, far above real use. */
const metaValuesMax = 10_000
const brackets = "[]".length

type Callable = (...args: ReadonlyArray<unknown>) => unknown

const functions = new NativeMap<string, Callable>()
const described: Array<{ readonly ns: string; readonly var: string; readonly value: Callable }> = []

export const findFunction = (fn: string): Callable => {
  const found = mapGet(functions, fn)
  if (found === undefined) throw namedError("FunctionNotFound", `the build exports no function ${fn}`)
  return found
}

/** Registers the functions of the module namespace object. This runs the bundle's getters. */
export const registerExports = (namespace: object): void => {
  eachProperty(namespace, (name, value) => {
    if (isCallable(value)) {
      register("main", name, value)
    } else if (typeof value === "object" && value !== null) {
      eachProperty(value, (inner, member) => {
        if (isCallable(member)) register(name, inner, member)
      })
    }
  })
}

/**
 * Returns the registered functions with their `meta` as JSON text. Throws an error that names the invalid function.
 *
 * Throws as soon as a limit is exceeded: many functions may share one `meta`, so the text can be far longer than the
 * bundle.
 */
export const describeExports = ({ exportsBytes, functionsWithMeta }: KernelLimits): string => {
  let text = ""
  let withMeta = 0
  let bytesLeft = exportsBytes - brackets
  for (let at = 0; at < described.length; at++) {
    const entry = described[at]
    if (entry === undefined) continue
    const meta = readMeta(entry.ns, entry.var, entry.value)
    if (meta !== undefined) withMeta++
    if (withMeta > functionsWithMeta) {
      throw namedError("BadMeta", `index.js exports over ${functionsWithMeta} functions with meta`)
    }
    const end = meta === undefined ? "}" : `,"meta":${meta}}`
    const entryText = `${at === 0 ? "" : ","}{"ns":${stringify(entry.ns)},"var":${stringify(entry.var)}${end}`
    if (isLonger(entryText, bytesLeft)) {
      throw namedError("BadMeta", `names and meta of the exports of index.js have over ${exportsBytes} bytes`)
    }
    bytesLeft -= utf8Bytes(entryText)
    text += entryText
  }
  return `[${text}]`
}

const register = (ns: string, name: string, value: Callable): void => {
  mapSet(functions, `${ns}/${name}`, value)
  defineProperty(described, described.length, { value: { ns, var: name, value }, enumerable: true })
}

const isCallable = (value: unknown): value is Callable => typeof value === "function"

const eachProperty = (object: object, visit: (name: string, value: unknown) => void): void => {
  const names = keys(object)
  for (let at = 0; at < names.length; at++) {
    const name = names[at]
    if (name !== undefined) visit(name, getProperty(object, name))
  }
}

const readMeta = (ns: string, name: string, value: Callable): string | undefined => {
  const meta: unknown = getProperty(value, "meta")
  if (meta === undefined) return undefined
  const fault = new JsonWalk().fault(meta, "meta", 0)
  if (fault !== undefined) throw namedError("BadMeta", `${ns}/${name}: ${fault}`)
  return stringify(meta)
}

/** Finds the first part of a value that JSON cannot represent. */
class JsonWalk {
  #values = 0

  fault(value: unknown, path: string, depth: number): string | undefined {
    this.#values++
    if (depth > metaDepthMax || this.#values > metaValuesMax) return `${path} is too deep or too large`
    if (value === null || typeof value === "string" || typeof value === "boolean") return undefined
    if (typeof value === "number") return isFinite(value) ? undefined : `${path} is not a finite number`
    if (typeof value !== "object") return `${path} is a ${typeof value}, which JSON cannot represent`
    const prototype: unknown = getPrototypeOf(value)
    if (!isArray(value) && prototype !== ObjectPrototype && prototype !== null) return `${path} is not a plain object`
    if (typeof getProperty(value, "toJSON") === "function") return `${path} has a method toJSON`
    const names = keys(value)
    if (isArray(value) && names.length !== value.length) return `${path} is an array with holes or named properties`
    for (let at = 0; at < names.length; at++) {
      const name = names[at]
      if (name === undefined) continue
      const fault = this.fault(getProperty(value, name), `${path}.${name}`, depth + 1)
      if (fault !== undefined) return fault
    }
    return undefined
  }
}
