/**
 * A cache of bundled programs of this repository, which start in a fraction of the time that their sources take.
 *
 * A program is built on request if any of its sources changed since the last build. Older builds are kept for 24 hours,
 * because running processes may still load files from them.
 */
import { createHash } from "node:crypto"
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { changedSince, freshRecord, stampsOf, writeRecord } from "./Freshness.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const retentionMs = 24 * 60 * 60 * 1000

/** Inputs of every build besides its sources. A change of the installed packages changes one of the lock files. */
const sharedInputs = [
  "package-lock.json",
  "node_modules/.package-lock.json",
  "{packages,adapters,examples}/*/package.json",
  "tooling/src/{build,programs}/*.ts"
]

const terms = `${process.versions.node} 1`

/** Builds in progress by name: concurrent requests of one process share a build. */
const inFlight = new Map<string, Promise<string>>()

/** Returns the folder of the built program. `main` is the path of its entry module from the root; Node 24 runs `main.mjs` in the folder. */
export const builtProgram = async (name: string, main: string): Promise<string> => {
  const cache = join(root, "node_modules/.cache", name)
  const record = join(cache, "record.json")
  const known = freshRecord(root, record, terms)?.place ?? inFlight.get(name)
  if (known !== undefined) return known
  const building = build(cache, record, main).finally(() => inFlight.delete(name))
  inFlight.set(name, building)
  return building
}

const build = async (cache: string, record: string, main: string): Promise<string> => {
  const began = Date.now()
  const { buildProgram } = await import("./BuildProgram.ts")
  mkdirSync(cache, { recursive: true })
  const draft = join(cache, `draft-${process.pid}-${began}`)
  const own = (await buildProgram(root, main, draft)).filter((input) => !input.includes("node_modules/"))
  const inputs = [...own, ...globSync(sharedInputs, { cwd: root })].sort()
  const stamps = stampsOf(root, inputs)
  // If a source changed during the build, the build may contain either version, so it is used once and not recorded.
  const isSure = !changedSince(root, inputs, began)
  const digest = createHash("sha256").update(terms).update(inputs.join("\n")).update(stamps).digest("hex").slice(0, 16)
  const place = join(cache, isSure ? digest : `${digest}-${process.pid}-${began}`)
  settle(draft, place)
  if (isSure) writeRecord(record, { place, terms, inputs, stamps })
  removeOld(cache, place)
  return place
}

/** Moves the draft to its place, or deletes it if another process has built the same program in the meantime. */
const settle = (draft: string, place: string): void => {
  try {
    renameSync(draft, place)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!(error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST")))
      throw error
    utimesSync(place, new Date(), new Date())
  }
}

const removeOld = (cache: string, newest: string): void => {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    const entry = statSync(path, { throwIfNoEntry: false })
    if (entry?.isDirectory() && path !== newest && Date.now() - entry.mtimeMs > retentionMs) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}
