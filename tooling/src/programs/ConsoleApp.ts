/** Builds the console into `packages/console/dist/app` if any of its sources changed since the last build. */
import { execFile } from "node:child_process"
import { globSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { changedSince, freshRecord, stampsOf, writeRecord } from "./Freshness.ts"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const folder = join(root, "packages/console")
const cache = join(root, "node_modules/.cache/weft-console")
const terms = `${process.versions.node} 1`

const sources = [
  "packages/console/{index.html,package.json,vite.config.ts,svcMembers.ts}",
  "packages/sdk/src/*.ts",
  "packages/console/src/**/*.{ts,tsx,css,svg}",
  "packages/client/src/**/*.ts",
  "package-lock.json"
]

/** Resolves when `dist/app` is up to date. A build takes a few seconds in a process of its own. */
export const consoleApp = async (): Promise<void> => {
  const record = join(cache, "record.json")
  const inputs = globSync(sources, { cwd: root }).sort()
  const known = freshRecord(root, record, terms)
  if (known !== undefined && known.inputs.length === inputs.length) return
  const began = Date.now()
  const place = join(folder, "dist/app")
  const draft = join(folder, `dist/draft-${process.pid}`)
  const vite = join(root, "node_modules/vite/bin/vite.js")
  await promisify(execFile)(process.execPath, [vite, "build", "--outDir", draft], { cwd: folder })
  rmSync(place, { recursive: true, force: true })
  renameSync(draft, place)
  mkdirSync(cache, { recursive: true })
  // A source that changed during the build may be in it in either version.
  if (!changedSince(root, inputs, began)) writeRecord(record, { place, terms, inputs, stamps: stampsOf(root, inputs) })
}
