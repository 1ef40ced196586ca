/** Results that are kept: a file for each suite and day, the newest of which the documentation shows. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import type { SuiteResult } from "../Suite.ts"
import type { Machine } from "./Machine.ts"

export interface KeptResult extends SuiteResult {
  /** `2026-11-22`, in UTC. */
  readonly date: string
  readonly machine: Machine
}

export const resultsFolder = new URL("../../results/", import.meta.url)

/** Four digits say all that can be said of a figure on a machine like these. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

export const keep = (result: KeptResult): URL => {
  mkdirSync(resultsFolder, { recursive: true })
  const file = new URL(`${result.date}-${result.suite}.json`, resultsFolder)
  writeFileSync(file, `${JSON.stringify(result, rounded, 2)}\n`)
  return file
}

/** The newest result of each suite, by its name. */
export const newestResults = (folder: URL = resultsFolder): ReadonlyMap<string, KeptResult> => {
  const newest = new Map<string, KeptResult>()
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    if (!name.endsWith(".json")) continue
    const result: KeptResult = JSON.parse(readFileSync(new URL(name, folder), "utf8"))
    newest.set(result.suite, result)
  }
  return newest
}
