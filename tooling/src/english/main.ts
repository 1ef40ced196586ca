/**
 * `npm run lint:words [-- [--root folder] [--all] [--update] paths...]`: prints findings and exits with 1 if there are new
 * ones. `--all` also prints the known findings of the baseline; `--update` removes those that are gone from it.
 */
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { compareWithBaseline, readBaseline, shrink, writeBaseline } from "./Baseline.ts"
import { checkEnglish } from "./Check.ts"
import { readProse } from "./Files.ts"
import { formatEnglish } from "./Finding.ts"
import { summarize } from "./Summary.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { root: { type: "string" }, all: { type: "boolean" }, update: { type: "boolean" } }
})
const root = values.root === undefined ? fileURLToPath(new URL("../../..", import.meta.url)) : resolve(values.root)
const path = join(root, "tooling/english/baseline.json")
const baseline = values.all === true ? {} : readBaseline(path)
const files = readProse(root, positionals)
const findings = await checkEnglish(files)
const { fresh, known, stale } = compareWithBaseline(files.keys(), findings, baseline)
for (const finding of fresh) console.log(formatEnglish(finding))
if (fresh.length > 0) console.log(`\n${summarize(fresh)}\n`)
if (values.update === true && positionals.length === 0) {
  writeBaseline(path, shrink(new Set(files.keys()), findings, baseline))
} else {
  for (const file of stale) console.log(`${file} has fewer findings than the baseline: npm run lint:words -- --update`)
  if (stale.length > 0) process.exitCode = 1
}
console.log(`english: ${files.size} files, ${fresh.length} findings, ${known} known`)
if (fresh.length > 0) process.exitCode = 1
