/** The packages that are built and published: those with a `tsup.config.ts`, or a `vite.config.ts` for pages. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { Manifest } from "../Repository.ts"

export const root = fileURLToPath(new URL("../../..", import.meta.url))

export interface Published {
  /** Path from the root of the repository. */
  readonly folder: string
  readonly manifest: Manifest
}

/** Returns the published packages, sorted by folder, without those that have no sources yet. */
export const publishedPackages = (): ReadonlyArray<Published> =>
  globSync("{packages,adapters}/*/{tsup,vite}.config.ts", { cwd: root })
    .map((config) => join(config, ".."))
    .filter((folder) =>
      ["index.ts", "main.ts", "main.tsx"].some((entry) => existsSync(join(root, folder, "src", entry)))
    )
    .sort()
    .map((folder) => ({ folder, manifest: decode(readFileSync(join(root, folder, "package.json"), "utf8")) }))

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))
