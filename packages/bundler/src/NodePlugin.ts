/** The esbuild plugin that resolves modules of Node to their stand-ins. */
import { readFile } from "node:fs/promises"
import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import type { ImportKind, OnLoadResult, OnResolveResult, Plugin } from "esbuild"
import { findStandIn, type StandIn } from "./NodeModules.ts"

/** Stand-ins are sources in this repository, and JavaScript in the published package. */
const extension = extname(fileURLToPath(import.meta.url))
const modulesFolder = fileURLToPath(new URL("./modules/", import.meta.url))

export const modulePath = (name: string): string => `${modulesFolder}${name}${extension}`

const requires: ReadonlyArray<ImportKind> = ["require-call", "require-resolve"]

/** Namespace of CommonJS modules that hold a stand-in for `require`: Node's own modules have no `default` there. */
const requiredNamespace = "node-required"
/** Without it, esbuild would read a wrapper of an `.mjs` file as an ES module. */
const requiredSuffix = ".cjs"
const refusedNamespace = "node-refused"

const prefix = "node:"
const pattern = /^(?:node:)?[a-z_0-9]+(?:\/[a-z]+)?$/

/** Internals of the libraries in the stand-ins: they use the stand-ins of their dependencies. */
const internalImports: Readonly<Record<string, string>> = {
  "process/": "process",
  "string_decoder/": "string_decoder",
  "buffer/": "buffer",
  "safe-buffer": "buffer"
}
const ownLibraries = /[\\/]node_modules[\\/](?:readable-stream|string_decoder)[\\/]/

export const nodePlugin: Plugin = {
  name: "weft-node-modules",
  setup: (build) => {
    build.onResolve({ filter: pattern }, ({ path, kind }) => {
      const standIn = findStandIn(path)
      if (standIn !== undefined) return resolveStandIn(standIn, kind)
      return path.startsWith(prefix)
        ? { errors: [{ text: `Node has no module ${JSON.stringify(path)}, or functions cannot import it` }] }
        : undefined
    })
    build.onResolve({ filter: /^cloudflare:sockets$/ }, ({ kind }) =>
      resolveStandIn({ kind: "own", path: "sockets" }, kind)
    )
    build.onResolve({ filter: /^undici$/ }, ({ kind }) => resolveStandIn({ kind: "own", path: "undici" }, kind))
    build.onResolve({ filter: /^(?:process|string_decoder|buffer)\/$|^safe-buffer$/ }, ({ path, importer, kind }) => {
      const name = internalImports[path]
      if (name === undefined || !ownLibraries.test(importer)) return undefined
      return resolveStandIn({ kind: "own", path: name }, kind)
    })
    build.onLoad({ filter: /.*/, namespace: requiredNamespace }, ({ path }) =>
      loadRequired(path.slice(0, -requiredSuffix.length))
    )
    build.onLoad({ filter: /[\\/]node-inspect-extracted[\\/]dist[\\/]inspect\.c?js$/ }, loadInspect)
    build.onLoad({ filter: /.*/, namespace: refusedNamespace }, ({ path }) => loadRefused(path))
  }
}

const resolveStandIn = (standIn: StandIn, kind: ImportKind): OnResolveResult => {
  if (standIn.kind === "refused") return { path: standIn.name, namespace: refusedNamespace, sideEffects: false }
  const path = standIn.kind === "own" ? modulePath(standIn.path) : fileURLToPath(import.meta.resolve(standIn.path))
  if (requires.includes(kind)) return { path: `${path}${requiredSuffix}`, namespace: requiredNamespace }
  return { path, sideEffects: false }
}

/**
 * Loads `node-inspect-extracted`, also a copy of the project. While it loads, it needs globals that isolates do not have. It
 * also reads the prototype of async generators from one of its own, which must stay one where async functions are compiled.
 */
const loadInspect = async ({ path }: { readonly path: string }): Promise<OnLoadResult> => {
  const globals = `require(${JSON.stringify(modulePath("inspectGlobals"))})`
  const code = (await readFile(path, "utf8")).replaceAll(
    "async function*(){}",
    'Function("return async function*(){}")()'
  )
  return { contents: `${globals}.addGlobals();${code}\n${globals}.removeGlobals()`, loader: "js" }
}

const loadRequired = (path: string): OnLoadResult => ({
  contents: `module.exports = require(${JSON.stringify(path)}).default`,
  resolveDir: modulesFolder,
  loader: "js"
})

/** Members are found through the prototype, because `import *` copies only own ones. */
const loadRefused = (name: string): OnLoadResult => ({
  contents: `module.exports = Object.create(require(${JSON.stringify(modulePath("refusedModules"))}).refusedModules(${JSON.stringify(name)}))`,
  resolveDir: modulesFolder,
  loader: "js"
})
