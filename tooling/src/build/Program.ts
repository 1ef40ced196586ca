/** What is common to modules that are built into programs: one file with all that it needs, or a few. */
import { readFile } from "node:fs/promises"
import type { Plugin } from "esbuild"
import { withBuiltUrls } from "./BuiltUrls.ts"

/** Old packages inside a module still ask for Node's own by `require`; loading the real one takes a while. */
export const requireOfPrograms = `const require = (name) => {
  const found = process.getBuiltinModule(name)
  if (found === undefined) throw Object.assign(new Error("Cannot find module " + name), { code: "MODULE_NOT_FOUND" })
  return found
};`

/** Packages that do nothing when they are imported, and do not say so. */
const idle = /^cron-parser$/

/** Leaves out packages, and modules of Node, that nothing is used of. */
export const withoutUnused: Plugin = {
  name: "without-unused",
  setup: (build) => {
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, external: true, sideEffects: false }))
    build.onResolve({ filter: idle }, async ({ path, pluginData, ...from }) => {
      if (pluginData === idle) return undefined
      return { ...(await build.resolve(path, { ...from, pluginData: idle })), sideEffects: false }
    })
  }
}

/** Programs of one build are beside each other, as their sources were beside the modules that name them. */
export const builtUrls: Plugin = {
  name: "built-urls",
  setup: (build) => {
    build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes("/node_modules/")) return undefined
      return { contents: withBuiltUrls(await readFile(path, "utf8"), ".mjs"), loader: "ts" }
    })
  }
}

/**
 * Whoever imports `node:http` as a module reads all that it has, WebSocket among it, and so loads an HTTP client that
 * nobody needs: 20 ms and 3 MB.
 */
export const plainHttp: Plugin = {
  name: "plain-http",
  setup: (build) => {
    build.onResolve({ filter: /^(node:)?http$/ }, () => ({ path: "http", namespace: "plain-http" }))
    build.onLoad({ filter: /.*/, namespace: "plain-http" }, () => ({
      contents: 'module.exports = process.getBuiltinModule("node:http")'
    }))
  }
}
