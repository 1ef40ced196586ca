/** Recorded results: one file per suite and day. The documentation shows the newest. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import type { SuiteResult } from "../Suite.ts"
import type { Machine } from "./Machine.ts"

export interface RecordedResult extends SuiteResult {
  /** `2026-11-22`, in UTC. */
  readonly date: string
  readonly machine: Machine
}

const resultsFolder = new URL("../../results/", import.meta.url)

/** Rounds to four significant digits. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value

export const record = (result: RecordedResult): URL => {
  mkdirSync(resultsFolder, { recursive: true })
  const file = new URL(`${result.date}-${result.suite}.json`, resultsFolder)
  writeFileSync(file, `${JSON.stringify(result, rounded, 2)}\n`)
  return file
}

/** Reads the newest result of each suite. */
export const newestResults = (folder: URL = resultsFolder): ReadonlyMap<string, RecordedResult> => {
  const newest = new Map<string, RecordedResult>()
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    if (!name.endsWith(".json")) continue
    const result: RecordedResult = JSON.parse(readFileSync(new URL(name, folder), "utf8"))
    newest.set(result.suite, result)
  }
  return newest
}
