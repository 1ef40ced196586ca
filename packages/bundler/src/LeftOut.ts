/**
 * The esbuild plugin for imports that a build leaves out:
 *
 * - packages that `weft.json` lists as `external`
 * - imports of packages that are not installed
 * - native code
 *
 * They fail when a function uses them, so that a package with an optional dependency can be deployed.
 */
import type { ImportKind, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from "esbuild"
import { anyOf } from "./Filter.ts"
import { modulePath } from "./NodePlugin.ts"

const namespace = "weft-left-out"
type Reason = "external" | "missing" | "native"

/** Returns the text after `Cannot find module "…"`. */
const explanations: Readonly<Record<Reason, string>> = {
  external: "weft.json lists it as external",
  missing: "it was not installed when the build was made",
  native: "functions cannot load native code"
}

export const leftOutPlugin = (external: ReadonlyArray<string>, missing: ReadonlyArray<string>): Plugin => ({
  name: "weft-left-out",
  setup: (build) => {
    if (external.length > 0) {
      build.onResolve({ filter: anyOf(external, true) }, (args) => leaveOut(args, "external"))
    }
    if (missing.length > 0) build.onResolve({ filter: anyOf(missing) }, (args) => leaveOut(args, "missing"))
    build.onResolve({ filter: /\.node$/ }, (args) => leaveOut(args, "native"))
    build.onLoad({ filter: /.*/, namespace }, ({ path, pluginData }) => load(path, pluginData))
  }
})

interface LeftOut {
  readonly reason: Reason
  readonly throws: boolean
}

const leaveOut = ({ path, kind }: OnResolveArgs, reason: Reason): OnResolveResult => ({
  path,
  namespace,
  // An import that is never evaluated fails at its first use, `require` and `import()` fail at once, as in Node.
  suffix: isStatic(kind) ? "?static" : "",
  pluginData: { reason, throws: !isStatic(kind) } satisfies LeftOut
})

const isStatic = (kind: ImportKind): boolean => kind === "import-statement"

const load = (path: string, { reason, throws }: LeftOut): OnLoadResult => {
  const message = `Cannot find module '${path}': ${explanations[reason]}`
  const { error, leftOut } = { error: "notFound", leftOut: "leftOutModule" }
  const made = `require(${JSON.stringify(modulePath("leftOut"))})`
  return {
    contents: throws
      ? `throw ${made}.${error}(${JSON.stringify(message)})`
      : `module.exports = Object.create(${made}.${leftOut}(${JSON.stringify(message)}))`,
    resolveDir: "/",
    loader: "js"
  }
}
