/**
 * Programs of this repository as few files: they start in a fraction of the time that their sources take.
 *
 * Built when one is asked for, wherever a source is newer than what was built from it. What was built before stays for
 * a while: processes that run may still load parts of it.
 */
import { createHash } from "node:crypto"
import { globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { changedSince, freshRecord, stampsOf, writeRecord } from "./Freshness.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const keptMs = 24 * 60 * 60 * 1000

/** What decides of a build besides the sources that are in it. Installed packages change with the lock of what is installed. */
const deciding = [
  "package-lock.json",
  "node_modules/.package-lock.json",
  "{packages,adapters,examples}/*/package.json",
  "tooling/src/{build,programs}/*.ts"
]

const terms = `${process.versions.node} 1`

/** Many in one process may ask at once. */
const underWay = new Map<string, Promise<string>>()

/** The folder of the program whose module, from the root, is `main`: `main.mjs` there starts it, in a process of Node 24. */
export const builtProgram = async (name: string, main: string): Promise<string> => {
  const cache = join(root, "node_modules/.cache", name)
  const record = join(cache, "record.json")
  const known = freshRecord(root, record, terms)?.place ?? underWay.get(name)
  if (known !== undefined) return known
  const building = build(cache, record, main).finally(() => underWay.delete(name))
  underWay.set(name, building)
  return building
}

const build = async (cache: string, record: string, main: string): Promise<string> => {
  const began = Date.now()
  const { buildProgram } = await import("./BuildProgram.ts")
  mkdirSync(cache, { recursive: true })
  const draft = join(cache, `draft-${process.pid}-${began}`)
  const own = (await buildProgram(root, main, draft)).filter((input) => !input.includes("node_modules/"))
  const inputs = [...own, ...globSync(deciding, { cwd: root })].sort()
  const stamps = stampsOf(root, inputs)
  // A source that was changed meanwhile may be in it or not: then it is good for this once only.
  const isSure = !changedSince(root, inputs, began)
  const digest = createHash("sha256").update(terms).update(inputs.join("\n")).update(stamps).digest("hex").slice(0, 16)
  const place = join(cache, isSure ? digest : `${digest}-${process.pid}-${began}`)
  settle(draft, place)
  if (isSure) writeRecord(record, { place, terms, inputs, stamps })
  forgetOld(cache, place)
  return place
}

/** Others may have built the same meanwhile. */
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

const forgetOld = (cache: string, newest: string): void => {
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    const entry = statSync(path, { throwIfNoEntry: false })
    if (entry?.isDirectory() && path !== newest && Date.now() - entry.mtimeMs > keptMs) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}
