/** The esbuild plugin for the aliases of `weft.json`. Those of esbuild itself do not reach plugins, and so no module of Node. */
import type { Plugin } from "esbuild"
import { anyOf } from "./Filter.ts"

/** Marks the plugin's own calls of `resolve`. */
const resolved = { weftAlias: true }

export const aliasPlugin = (alias: Readonly<Record<string, string>>, folder: string): Plugin => ({
  name: "weft-alias",
  setup: (build) => {
    const entries = Object.entries(alias)
    if (entries.length === 0) return
    build.onResolve(
      { filter: anyOf(Object.keys(alias), true) },
      async ({ path, importer, kind, pluginData, with: attributes }) => {
        const found = entries.find(([name]) => path === name || path.startsWith(`${name}/`))
        if (found === undefined || kind === "entry-point" || pluginData === resolved) return undefined
        const [name, target] = found
        // As in esbuild, a target is found from the folder of the project.
        return build.resolve(`${target}${path.slice(name.length)}`, {
          importer,
          kind,
          resolveDir: folder,
          with: attributes,
          pluginData: resolved
        })
      }
    )
  }
})
