/**
 * Vitest plugin that replaces the processes and threads that sources start by those of the bundled reference server.
 * Nearly every suite starts some of them, and from sources each takes several times as long to start.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Plugin } from "vitest/config"
import { referenceServer } from "./ReferenceServer.ts"

const sources = /\/(packages|adapters)\/[^/]+\/src\/.*\.ts$/
const named = /new URL\(\s*"\.\/([^"]+)\.ts",\s*import\.meta\.url\)/g

/** The build, or null if it fails, for example because a source has a syntax error. Tests then start the sources. */
let building: Promise<string | null> | undefined
const folder = (): Promise<string | null> => {
  building ??= referenceServer().then(dirname, () => null)
  return building
}

export const builtByUrl = (): Plugin => ({
  name: "built-by-url",
  enforce: "pre",
  // A cached transformation contains the path of an earlier build.
  configureVitest: async ({ defineCacheKeyGenerator }) => {
    const place = await folder()
    defineCacheKeyGenerator(({ id }) => (sources.test(id) ? (place ?? "sources") : undefined))
  },
  // Builds before the tests start: their imports have a short timeout.
  configureServer: async () => {
    await folder()
  },
  transform: {
    filter: { id: sources, code: /new URL\(/ },
    handler: async (code) => {
      const place = await folder()
      if (place === null) return undefined
      return code.replace(named, (whole, name: string) => {
        const file = join(place, `${name}.mjs`)
        return existsSync(file) ? `new URL(${JSON.stringify(pathToFileURL(file).href)})` : whole
      })
    }
  }
})
