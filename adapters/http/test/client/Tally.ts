/** Counts the requests of the suite that went through the client, in all processes, and prints a summary. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"

declare module "vitest" {
  interface ProvidedContext {
    /** A folder in which each process appends to its own file. */
    readonly clientTally: string
  }
}

const setup = ({ provide }: TestProject) => {
  const folder = mkdtempSync(join(tmpdir(), "weft-tally-"))
  provide("clientTally", folder)
  return () => {
    const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
    rmSync(folder, { recursive: true, force: true })
    if (lines.length > 0) console.log(summary(lines))
  }
}

export default setup

const summary = (lines: ReadonlyArray<string>): string => {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  const rows = [...counts].map(([line, count]) => ({
    kind: line.split(" ", 1)[0],
    what: line.slice(line.indexOf(" ") + 1),
    count
  }))
  const sent = rows.filter(({ kind }) => kind === "client")
  const others = rows.filter(({ kind }) => kind === "other").sort((a, b) => b.count - a.count)
  return [
    `\nThe HTTP suite through the client: ${totalOf(sent)} requests by ${sent.length} methods, ${totalOf(others)} with fetch:`,
    ...others.map(({ what, count }) => `${String(count).padStart(6)}  ${what}`)
  ].join("\n")
}

const totalOf = (rows: ReadonlyArray<{ readonly count: number }>): number =>
  rows.reduce((sum, { count }) => sum + count, 0)
