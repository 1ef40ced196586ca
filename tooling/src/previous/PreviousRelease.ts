/** Loads the previous release, which `npm run keep-previous` packs for the tests of upgrades. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))

/** A tarball as `npm pack` writes it, with one module. */
export const tarball = join(root, "adapters/postgres/test/fixtures/previous.tgz")

/** Imports the previous release. The type parameter declares the exports that the caller uses. */
export const loadPreviousRelease = async <Release>(): Promise<Release> =>
  import(pathToFileURL(join(unpack(), "index.js")).href)

/** Unpacks the tarball once for each content. Below `node_modules`, its imports resolve to the installed packages. */
const unpack = (): string => {
  const digest = createHash("sha256").update(readFileSync(tarball)).digest("hex")
  const folder = join(root, "node_modules/.cache/weft-previous", digest.slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const unpacked = mkdtempSync(`${folder}-`)
  execFileSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"])
  try {
    renameSync(unpacked, folder)
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true })
    // Another worker has unpacked the same content meanwhile.
    if (!existsSync(folder)) throw error
  }
  return folder
}
