/** Measures the installation of a package with its transitive dependencies. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { Schema } from "effect"

const Needs = Schema.fromJsonString(
  Schema.Struct({
    dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    optionalDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    peerDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    peerDependenciesMeta: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  })
)

const decode = Schema.decodeUnknownSync(Needs)

export interface Installation {
  readonly packages: number
  readonly bytes: number
}

export const measureInstallation = (name: string, place: string): Installation => {
  const found = new Set<string>()
  const visit = (folder: string): void => {
    if (found.has(folder)) return
    found.add(folder)
    const needs = decode(readFileSync(join(folder, "package.json"), "utf8"))
    for (const names of [needs.dependencies, needs.optionalDependencies, needs.peerDependencies]) {
      for (const needed of Object.keys(names ?? {})) {
        if (needs.peerDependenciesMeta?.[needed] !== undefined) continue
        // npm does not install optional dependencies for other platforms.
        const place = resolve(needed, folder)
        if (place !== undefined) visit(place)
      }
    }
  }
  const own = resolve(name, place)
  if (own === undefined) throw new Error(`${name} is not installed in ${place}`)
  visit(own)
  return { packages: found.size, bytes: [...found].reduce((sum, folder) => sum + bytesOf(folder), 0) }
}

/** Resolves a package as Node does: in `node_modules` of the folder and its parents. */
const resolve = (name: string, folder: string): string | undefined => {
  const candidate = join(folder, "node_modules", name)
  if (existsSync(join(candidate, "package.json"))) return candidate
  const above = dirname(folder)
  return above === folder ? undefined : resolve(name, above)
}

/** Returns the size of a package without its nested `node_modules`. */
const bytesOf = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + bytesOf(path)
    return entry.isFile() ? sum + statSync(path).size : sum
  }, 0)
