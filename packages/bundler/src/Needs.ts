/** Additions that the code of a build needs. A first bundle without them shows which. */
import { resolve } from "node:path"
import type { BuildFailure, Metafile } from "esbuild"
import { findGlobals } from "./Globals.ts"
import { modulePath } from "./NodePlugin.ts"

export interface Needs {
  /** Globals of Node that the code mentions. */
  readonly globals: ReadonlyArray<string>
  /** True if the code imports `node:async_hooks`. */
  readonly asyncHooks: boolean
  /** Imports of packages that cannot be resolved. */
  readonly missing: ReadonlyArray<string>
  /** Absolute paths of the files that import `node:module`. */
  readonly requiring: ReadonlyArray<string>
}

export const noNeeds: Needs = { globals: [], asyncHooks: false, missing: [], requiring: [] }

export const mergeNeeds = (a: Needs, b: Needs): Needs => ({
  globals: union(a.globals, b.globals),
  asyncHooks: a.asyncHooks || b.asyncHooks,
  missing: union(a.missing, b.missing),
  requiring: union(a.requiring, b.requiring)
})

const union = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set([...a, ...b])].sort()

/** Returns the needs that a bundle shows. */
export const findNeeds = (folder: string, { inputs, outputs }: Metafile, code: string): Needs => {
  const contained = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
  return {
    globals: findGlobals(code),
    asyncHooks: contained.some(([path, { bytesInOutput }]) => bytesInOutput > 0 && isStandIn("async_hooks", path)),
    // esbuild leaves out what it cannot resolve in a `try` block. It also lists injected modules, as static imports.
    missing: Object.values(inputs).flatMap(({ imports }) =>
      imports.filter(({ external, kind }) => external === true && kind !== "import-statement").map(({ path }) => path)
    ),
    requiring: Object.entries(inputs)
      .filter(([path, { imports }]) => isInstalled(path) && imports.some((each) => isStandIn("module", each.path)))
      .map(([path]) => resolve(folder, path))
  }
}

/** Returns the needs that a failed bundle shows: packages may import others that are not installed. */
export const findMissing = ({ errors }: BuildFailure): Needs => ({
  ...noNeeds,
  missing: errors.flatMap(({ text, location }) => {
    const name = /^Could not resolve "([^"]+)"/.exec(text)?.[1]
    return name === undefined || location === null || !isInstalled(location.file) ? [] : [name]
  })
})

const isInstalled = (path: string): boolean => /(?:^|[\\/])node_modules[\\/]/.test(path)

/** True if the path, relative to any folder, is that of a stand-in. */
const isStandIn = (name: string, path: string): boolean =>
  path.endsWith(`/${modulePath(name).split(/[\\/]/).slice(-3).join("/")}`)
