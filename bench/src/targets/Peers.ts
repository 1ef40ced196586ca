/** The packages of peers: where they are, which version, and how they get there. */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import type { Installation } from "../Suite.ts"

const folders: Readonly<Record<Installation, URL>> = {
  peers: new URL("../../peers/", import.meta.url),
  n8n: new URL("../../peers/n8n/", import.meta.url)
}

/** Those of their packages that are made on the machine; no other may run anything while it is installed. */
const built: Readonly<Record<Installation, ReadonlyArray<string>>> = { peers: [], n8n: ["sqlite3"] }

const running = new Map<Installation, Promise<void>>()

/** Installs what the lock file says, unless it is there already; at most once in a process. */
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
  // Of the lock file that was installed last: npm leaves behind nothing that says so for sure.
  const note = new URL("node_modules/.installed", folder)
  if (existsSync(note) && readFileSync(note, "utf8") === lock) return
  progress(`npm ci in ${folder.pathname}, which happens once`)
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
      code === 0 ? resolve() : reject(new Error(`npm ${args.join(" ")} ended with ${code}`))
    )
  })

/** A file of an installed package, by its path from `node_modules`. */
export const peerFile = (path: string, what: Installation = "peers"): string =>
  new URL(`node_modules/${path}`, folders[what]).pathname

export const peerVersion = (name: string, what: Installation = "peers"): string => {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(peerFile(`${name}/package.json`, what), "utf8")
  )
  return manifest.version
}
