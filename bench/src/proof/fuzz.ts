/** Inputs that nobody would send but on purpose, by the million: the tests that make some of them, for as long as one likes. */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { LongForm } from "@weft/tooling/fuzz"
import { Schema } from "effect"
import type { Given, Proof } from "./Proof.ts"

const root = new URL("../../../", import.meta.url)

const files = [
  "packages/core/test/fuzz.test.ts",
  "packages/sandbox/test/fuzz.test.ts",
  "adapters/http/test/fuzz/connections.test.ts"
]

const Report = Schema.Struct({
  target: Schema.String,
  inputs: Schema.Finite,
  taken: Schema.Finite,
  kept: Schema.Finite,
  fresh: Schema.Finite,
  functions: Schema.Finite,
  characters: Schema.Finite,
  seconds: Schema.Finite,
  slowestMs: Schema.Finite,
  failures: Schema.Array(Schema.String)
})
type Report = typeof Report.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Report))

interface Ran {
  readonly reports: ReadonlyArray<Report>
  /** What the tests said, where one of them failed. */
  readonly said: string | null
}

const runAll = (long: LongForm): Promise<Ran> =>
  new Promise((resolve) => {
    const args = ["run", "--project", "suites", "--project", "http", ...files]
    const env = { ...process.env, WEFT_FUZZ: JSON.stringify(long) }
    const child = execFile(
      "node_modules/.bin/vitest",
      args,
      { cwd: root, env, maxBuffer: 2 ** 28 },
      (error, stdout, stderr) => {
        const names = readdirSync(long.folder).filter((name) => name.endsWith(".json"))
        const reports = names.sort().map((name) => decode(readFileSync(join(long.folder, name), "utf8")))
        resolve({ reports, said: error === null ? null : `${stdout}\n${stderr}` })
      }
    )
    process.once("exit", () => child.kill("SIGKILL"))
  })

const sum = (reports: ReadonlyArray<Report>, of: (report: Report) => number): number =>
  reports.reduce((all, report) => all + of(report), 0)

const shown = ({ target, inputs, taken, seconds, fresh, functions, slowestMs }: Report): string => {
  const share = Math.round((100 * taken) / Math.max(1, inputs))
  const guided = functions === 0 ? "" : `, ${fresh} reached something new in ${functions} functions`
  return `${target}: ${Math.round(inputs / seconds)} inputs a second, ${share} % taken for what they claim to be${guided}, the slowest in ${Math.round(slowestMs)} ms`
}

const run = async ({ minutes, seed, only, progress }: Given) => {
  const folder = mkdtempSync(join(tmpdir(), "weft-fuzz-"))
  try {
    progress("each of the targets, two files at a time")
    const { reports, said } = await runAll({ minutes: minutes ?? 1, seed: seed ?? 1, only: only ?? null, folder })
    const failures = reports.flatMap((report) => report.failures.map((text) => `${report.target}/${text}`))
    if (reports.length === 0) failures.push("nothing was fuzzed: there is no such target, or its tests did not start")
    if (said !== null && failures.length === 0) failures.push(`the tests failed: ${said.slice(-2000)}`)
    const figures = [
      ["targets", reports.length] as const,
      ...reports.map(({ target, inputs }) => [`inputs to ${target}`, inputs] as const),
      ["inputs in all", sum(reports, ({ inputs }) => inputs)] as const,
      ["inputs kept, which are tried with each change", sum(reports, ({ kept }) => kept)] as const,
      ["failures", failures.length] as const
    ]
    return { figures, failures, notes: reports.map(shown) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const fuzzProof: Proof = {
  title: "Bad input",
  does: `Everything that reads what strangers send is given inputs that are right, nearly right and wrong: made by a grammar
of each, spoiled, and spoiled again where they reached code that none before them did. Zips and forms of builds, metadata,
permission maps, cron expressions and schedules, tokens, places in streams, webhooks, bytes on a connection (two lengths of
one body, folded headers, chunks that are none, requests within requests), and what a runner says that was taken over.
\`--minutes\` is for each target, \`--only\` names one. A failing input is made small and kept in \`bench/corpora\`.`,
  shows: `that what is read is read as a second, plain reading has it: files of zips, bytes of forms however they are cut,
what maps grant, when expressions fire; that connections get answers without 5xx, with the envelope, or are closed, and
never two readings of one request; that a runner attributes nothing to others, and takes neither memory nor time.`,
  doesNotShow: `that there is no such input: it has not been found in this time.`,
  run
}
