/** Packs packages as `npm publish` would. */
import { execFileSync } from "node:child_process"
import { copyFileSync, cpSync, globSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../build/published.ts"
import { type Published, publishedManifest } from "./Published.ts"

export interface Archive {
  readonly manifest: Published
  /** Folder of the package, from the root of the repository. */
  readonly folder: string
  /** Path of the archive. */
  readonly file: string
  /** Folder with the unpacked content. `paths` are relative to it. */
  readonly staged: string
  readonly paths: ReadonlyArray<string>
  readonly packedBytes: number
  readonly unpackedBytes: number
}

/** Packs each package folder into an archive in `place`. */
export const pack = (folders: ReadonlyArray<string>, place: string): ReadonlyArray<Archive> => {
  const staged = folders.map((folder) => stage(folder, place))
  execFileSync("npm", ["pack", "--silent", "--pack-destination", place, ...staged.map(({ at }) => at)], {
    cwd: place,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return staged.map(({ folder, manifest, at }) => {
    const file = join(place, `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`)
    const paths = globSync("**", { cwd: at }).filter((path) => statSync(join(at, path)).isFile())
    const unpackedBytes = paths.reduce((sum, path) => sum + statSync(join(at, path)).size, 0)
    return { manifest, folder, file, staged: at, paths, packedBytes: statSync(file).size, unpackedBytes }
  })
}

const stage = (folder: string, place: string) => {
  const from = join(root, folder)
  const manifest = publishedManifest(from)
  const at = join(place, "staged", manifest.name)
  mkdirSync(at, { recursive: true })
  const isProgram = !Object.hasOwn(manifest.exports, ".")
  const untyped = untypedModules(manifest).map((path) => join(from, path))
  // A program has no importable entry, and a closed module has no types.
  const filter = (path: string): boolean => !(isProgram && path.endsWith(".d.ts")) && !untyped.includes(path)
  for (const path of manifest.files) cpSync(join(from, path), join(at, path), { recursive: true, filter })
  copyFileSync(join(from, "README.md"), join(at, "README.md"))
  copyFileSync(join(root, "LICENSE"), join(at, "LICENSE"))
  writeFileSync(join(at, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  return { folder, manifest, at }
}

/** Declarations of the modules that `exports` closes with `"types": null`. */
const untypedModules = ({ exports }: Published): ReadonlyArray<string> =>
  Object.values(exports).flatMap((entry) =>
    typeof entry !== "string" && "types" in entry && entry.types === null
      ? [entry.default.replace(/\.js$/, ".d.ts")]
      : []
  )
