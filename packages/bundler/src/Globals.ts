/** Globals of Node, and other names that a build replaces. */
import { dirname } from "node:path"
import type { Plugin } from "esbuild"
import { anyOf } from "./Filter.ts"
import { modulePath } from "./NodePlugin.ts"

/** Globals that the bundler adds to builds whose code mentions them, and the modules that export them. */
const modules: Readonly<Record<string, string>> = {
  Buffer: "Buffer",
  process: "process",
  setImmediate: "timers",
  clearImmediate: "timers",
  WeakRef: "references",
  FinalizationRegistry: "references",
  MessageChannel: "messages",
  MessagePort: "messages"
}

/** Stands for a global in the first bundle, which finds out which of them the code mentions. */
const placeholder = (name: string): string => `__weft_global_${name}`

/** Uses of `Buffer` as a property of the global object, under any name of that object. */
const bufferProperty = /\.Buffer\.(?:alloc|byteLength|concat|from)\(/

/** Returns the globals that the code mentions: their placeholders show it. */
export const findGlobals = (code: string): ReadonlyArray<string> =>
  Object.keys(modules).filter(
    (name) => code.includes(placeholder(name)) || (name === "Buffer" && bufferProperty.test(code))
  )

/** Path of the module that defines the globals. */
const definer = "weft:globals"

/** Returns the files to inject: one that defines the globals, before all other code. */
export const injections = (globals: ReadonlyArray<string>): Array<string> => (globals.length === 0 ? [] : [definer])

/**
 * The esbuild plugin with the module that defines the globals.
 *
 * It is one module without exports. A module for each global would also be injected into the stand-ins, and run in the middle
 * of what it imports.
 */
export const globalsPlugin = (globals: ReadonlyArray<string>): Plugin => ({
  name: "weft-globals",
  setup: (build) => {
    build.onResolve({ filter: anyOf([definer]) }, ({ path }) => ({
      path,
      namespace: "weft-globals",
      sideEffects: true
    }))
    build.onLoad({ filter: /.*/, namespace: "weft-globals" }, () => ({
      contents: globals.map(define).join("\n"),
      resolveDir: dirname(modulePath("process")),
      loader: "js"
    }))
  }
})

const define = (name: string): string => {
  const path = JSON.stringify(modulePath(`globals/${modules[name]}`))
  const value = `{ value: ${name}_, configurable: true, writable: true }`
  return `import { ${name} as ${name}_ } from ${path}\nObject.defineProperty(globalThis, "${name}", ${value})`
}

/** Returns replacements of expressions. Globals that are not added become placeholders. */
export const definitions = (globals: ReadonlyArray<string>): Record<string, string> => ({
  "process.env.NODE_ENV": '"production"',
  global: "globalThis",
  "import.meta.url": '"file:///index.js"',
  "import.meta.filename": '"/index.js"',
  "import.meta.dirname": '"/"',
  __filename: '"/index.js"',
  __dirname: '"/"',
  ...Object.fromEntries(
    Object.keys(modules)
      .filter((name) => !globals.includes(name))
      .map((name) => [name, placeholder(name)])
  )
})
