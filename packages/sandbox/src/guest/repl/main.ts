/**
 * The program of a session, which runs in its isolate instead of a build. It evaluates one input after the other, and
 * keeps the names that they declare as globals.
 *
 * All of it is in reach of the code of the inputs. A session whose code changes it breaks only itself.
 */
import { isLonger } from "../kernel/utf8.ts"
import { inspect } from "../platform/inspect.ts"
import { Completer, type Completion, listGetters } from "./complete.ts"
import { rewrite } from "./rewrite.ts"

/** An evaluated input. `json` is JSON text, or null if the value has none. */
export interface Evaluated {
  readonly text: string
  readonly json: string | null
}

/** An input for a session that is not in this isolate. */
interface Lost {
  readonly lost: true
}

export interface Session {
  /** Opens the session. Inputs to an isolate without a session are not evaluated. */
  readonly open: () => true
  /** Evaluates an input of JavaScript. Rejects with what the input threw. */
  readonly input: (number: number, source: string) => Promise<Evaluated | Lost>
  readonly complete: (source: string, cursor: number) => Completion | Lost
}

/** Maximum characters of the formatted value. */
const textMax = 64 * 1024
/** Maximum bytes of the result as JSON. Beyond it, there is only the formatted value. */
const jsonBytesMax = 256 * 1024
const depthMax = 4
/** Maximum objects that are formatted. */
const objectsMax = 2000

/** Path under which an input imports the build of the session. */
const buildPath = "weft:build"

/**
 * Names of Web APIs that few builds use. The platform installs them if a script mentions them, and an input may.
 * `new TextDecoder(label)` does the same for legacy encodings.
 */
export const optionalNames = ["URLPattern", "WebSocket", "TextDecoder"]

const { stringify } = JSON
/** Evaluates a script in the global scope. Its value is a function for inputs, and unused for hoisted functions. */
const evaluate: (script: string) => (helpers: object) => Promise<unknown> = Reflect.get(globalThis, "eval")
const { defineProperty, getOwnPropertyDescriptor } = Reflect

/** Returns the session. `build` is the namespace of the build of its context, or null. */
export const makeSession = (build: object | null): Session => {
  const declared = new Set<string>()
  const completer = new Completer(declared)
  const results = new Map<string, unknown>()
  let isOpen = false

  const helpers = {
    constant: (names: ReadonlyArray<string>) => {
      for (const name of names) defineProperty(globalThis, name, { writable: false })
    },
    load: async (path: unknown) => {
      if (path === buildPath && build !== null) return build
      throw new Error(
        `imports ${stringify(path)}: a session imports nothing but ${buildPath}, the build of its context`
      )
    }
  }

  /** Makes a name a global to which the input can assign. A value that it has stays until then. */
  const declare = (name: string): void => {
    const property = getOwnPropertyDescriptor(globalThis, name)
    const value = property !== undefined && "value" in property ? property.value : undefined
    defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true })
    declared.add(name)
  }

  /** Keeps a result under a name, unless the code has given the name another value. */
  const remember = (name: string, value: unknown): void => {
    const property = getOwnPropertyDescriptor(globalThis, name)
    if (property !== undefined && !(results.has(name) && Object.is(property.value, results.get(name)))) return
    results.set(name, value)
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true })
  }

  if (build !== null) defineProperty(globalThis, "build", { value: build, writable: true, configurable: true })

  return {
    open: () => {
      isOpen = true
      completer.trust(listGetters(globalThis))
      const svc: unknown = Reflect.get(globalThis, "svc")
      if (typeof svc === "object" && svc !== null) completer.trust(listGetters(svc))
      return true
    },

    input: async (number, source) => {
      if (!isOpen) return { lost: true }
      try {
        const { script, functions, names, assigned } = rewrite(source)
        for (const name of names) declare(name)
        for (const name of assigned) if (!(name in globalThis)) declare(name)
        const file = `\n//# sourceURL=repl-${number}.ts`
        for (const text of functions) evaluate(text + file)
        const value: unknown = await evaluate(script + file)(helpers)
        const shown = describe(value)
        if (value !== undefined) remember("_", value)
        return shown
      } catch (thrown) {
        remember("_error", thrown)
        throw thrown
      }
    },

    complete: (source, cursor) => (isOpen ? completer.complete(source, cursor) : { lost: true })
  }
}

/** Returns the value as text and as JSON. Without a prototype, so that no `toJSON` of the code is called later. */
const describe = (value: unknown): Evaluated => {
  const text = value === undefined ? "" : show(value)
  return Object.assign(Object.create(null), { text, json: toJson(value) })
}

const show = (value: unknown): string => {
  const text = withOwnLines(inspect(value, depthMax, objectsMax))
  return text.length <= textMax ? text : `${text.slice(0, textMax)}\n... ${text.length - textMax} more characters`
}

/** Replaces positions in stacks: a script has one line more than its input. Frames of this program are dropped. */
const withOwnLines = (text: string): string =>
  text
    .replace(/\brepl-(\d+)\.ts:(\d+)/g, (_, input: string, line: string) => `repl-${input}.ts:${Number(line) - 1}`)
    .replace(/\n +at [^\n]*\bweft:(?:bundle|kernel)[^\n]*/g, "")

const toJson = (value: unknown): string | null => {
  try {
    const text: string | undefined = stringify(value)
    return text === undefined || isLonger(text, jsonBytesMax) ? null : text
  } catch {
    return null
  }
}
