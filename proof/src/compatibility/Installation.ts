/** The scratch folder with the packages of all cases, in pinned versions. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"

const file = new URL("versions.json", import.meta.url)
const Versions = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))

const readVersions = (): Readonly<Record<string, string>> =>
  Schema.decodeUnknownSync(Versions)(readFileSync(file, "utf8"))

/** Installs the pinned packages, without install scripts. Returns the folder. npm reuses an earlier installation. */
export const install = (names: ReadonlyArray<string>, progress: (text: string) => void): string => {
  const versions = readVersions()
  const missing = names.filter((name) => versions[name] === undefined)
  if (missing.length > 0) throw new Error(`versions.json has no version of ${missing.join(", ")}`)
  const folder = join(tmpdir(), "weft-compatibility")
  mkdirSync(folder, { recursive: true })
  const dependencies = Object.fromEntries(names.toSorted().map((name) => [name, versions[name]]))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }, null, 2))
  progress(`npm installs ${names.length} packages in ${folder}`)
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error"]
  execFileSync("npm", ["install", ...flags], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  return folder
}
