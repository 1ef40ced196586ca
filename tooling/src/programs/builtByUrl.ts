/**
 * For vitest: processes and threads that the sources start in tests are those of the reference server, built. From
 * their sources they take several times as long to begin, and nearly every suite begins some.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Plugin } from "vitest/config"
import { referenceServer } from "./ReferenceServer.ts"

const sources = /\/(packages|adapters)\/[^/]+\/src\/.*\.ts$/
const named = /new URL\(\s*"\.\/([^"]+)\.ts",\s*import\.meta\.url\)/g

/** While sources are changed they may not build: then tests start what the sources name. */
let building: Promise<string | null> | undefined
const folder = (): Promise<string | null> => {
  building ??= referenceServer().then(dirname, () => null)
  return building
}

export const builtByUrl = (): Plugin => ({
  name: "built-by-url",
  enforce: "pre",
  // What was transformed before names what was built before.
  configureVitest: async ({ defineCacheKeyGenerator }) => {
    const place = await folder()
    defineCacheKeyGenerator(({ id }) => (sources.test(id) ? (place ?? "sources") : undefined))
  },
  // Before tests, whose imports would not wait for long.
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
