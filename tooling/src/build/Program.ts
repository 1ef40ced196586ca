/** Plugins and options shared by all builds that bundle a module into a program of one or a few files. */
import { readFile } from "node:fs/promises"
import type { Plugin } from "esbuild"
import { withBuiltUrls } from "./BuiltUrls.ts"

/** Minimal `require` for bundled CommonJS packages that load built-in modules of Node. `createRequire` is slower to load. */
export const requireOfPrograms = `const require = (name) => {
  const found = process.getBuiltinModule(name)
  if (found === undefined) throw Object.assign(new Error("Cannot find module " + name), { code: "MODULE_NOT_FOUND" })
  return found
};`

/** Packages without side effects on import that do not declare `sideEffects: false`. */
const idle = /^cron-parser$/

/** Drops imports of packages and built-in modules that the program does not use. */
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

/** Rewrites `new URL("./x.ts", import.meta.url)` to `./x.mjs`: all programs of a build are in the same folder. */
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
 * Loads `node:http` with `process.getBuiltinModule`. An ES import evaluates every export, including `WebSocket`,
 * which loads an unused HTTP client: 20 ms and 3 MB.
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
