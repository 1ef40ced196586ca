/**
 * Known findings per file and rule. They may only become fewer: text that was written before the rules is rewritten file
 * by file, and nothing new is added to it. A file that is not listed has no known finding.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { Schema } from "effect"
import type { EnglishFinding } from "./Finding.ts"

const Counts = Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Int))
export type Baseline = typeof Counts.Type

export interface Comparison {
  /** All findings of a file and rule that has more of them than it may. */
  readonly fresh: ReadonlyArray<EnglishFinding>
  /** Findings within the baseline. */
  readonly known: number
  /** Files with fewer findings than the baseline says: the baseline must shrink. */
  readonly stale: ReadonlyArray<string>
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Counts))

export const readBaseline = (path: string): Baseline => (existsSync(path) ? decode(readFileSync(path, "utf8")) : {})

/** Compares the findings of the checked files with the baseline. */
export const compareWithBaseline = (
  files: Iterable<string>,
  findings: ReadonlyArray<EnglishFinding>,
  baseline: Baseline
): Comparison => {
  const counts = count(findings)
  const fresh = findings.filter(({ file, rule }) => (counts[file]?.[rule] ?? 0) > (baseline[file]?.[rule] ?? 0))
  const stale = [...files].filter((file) =>
    Object.entries(baseline[file] ?? {}).some(([rule, known]) => (counts[file]?.[rule] ?? 0) < known)
  )
  return { fresh, known: findings.length - fresh.length, stale }
}

/** Returns the baseline with the lower of both counts for every checked file, and without files that are gone. */
export const shrink = (
  files: ReadonlySet<string>,
  findings: ReadonlyArray<EnglishFinding>,
  baseline: Baseline
): Baseline => {
  const counts = count(findings)
  return Object.fromEntries(
    Object.entries(baseline)
      .filter(([file]) => files.has(file))
      .map(([file, rules]) => {
        const left = Object.entries(rules)
          .map(([rule, known]): readonly [string, number] => [rule, Math.min(known, counts[file]?.[rule] ?? 0)])
          .filter(([, known]) => known > 0)
        return [file, Object.fromEntries(left)] as const
      })
      .filter(([, rules]) => Object.keys(rules).length > 0)
  )
}

export const writeBaseline = (path: string, baseline: Baseline): void =>
  writeFileSync(path, `${JSON.stringify(baseline, null, 1)}\n`)

const count = (findings: ReadonlyArray<EnglishFinding>): Record<string, Record<string, number>> => {
  const counts: Record<string, Record<string, number>> = {}
  for (const { file, rule } of findings) {
    const rules = counts[file] ?? {}
    counts[file] = rules
    rules[rule] = (rules[rule] ?? 0) + 1
  }
  return counts
}
