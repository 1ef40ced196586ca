/** Packages of peers: folders, versions and installation. */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import type { Installation } from "../Suite.ts"

const folders: Readonly<Record<Installation, URL>> = {
  peers: new URL("../../peers/", import.meta.url),
  n8n: new URL("../../peers/n8n/", import.meta.url)
}

/** Packages that are compiled on this machine. No other package may run install scripts. */
const built: Readonly<Record<Installation, ReadonlyArray<string>>> = { peers: [], n8n: ["sqlite3"] }

const running = new Map<Installation, Promise<void>>()

/** Installs the lock file unless it is installed already; at most once per process. */
export const install = (what: Installation, progress: (text: string) => void): Promise<void> => {
  const installing = running.get(what) ?? installNow(what, progress)
  running.set(what, installing)
  return installing
}

const installNow = async (what: Installation, progress: (text: string) => void): Promise<void> => {
  const folder = folders[what]
  const lock = createHash("sha256")
    .update(readFileSync(new URL("package-lock.json", folder)))
    .digest("hex")
  // Hash of the lock file that was installed last; npm stores no reliable record of it.
  const note = new URL("node_modules/.installed", folder)
  if (existsSync(note) && readFileSync(note, "utf8") === lock) return
  progress(`npm ci in ${folder.pathname}, once`)
  await npm(folder, ["ci", "--ignore-scripts"])
  if (built[what].length > 0) await npm(folder, ["rebuild", ...built[what]])
  writeFileSync(note, lock)
}

const npm = (folder: URL, args: ReadonlyArray<string>): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"]
    })
    child.once("error", reject)
    child.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`npm ${args.join(" ")} exited with ${code}`))
    )
  })

/** Returns the path of a file in an installed package, from its path in `node_modules`. */
export const peerFile = (path: string, what: Installation = "peers"): string =>
  new URL(`node_modules/${path}`, folders[what]).pathname

export const peerVersion = (name: string, what: Installation = "peers"): string => {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(peerFile(`${name}/package.json`, what), "utf8")
  )
  return manifest.version
}
