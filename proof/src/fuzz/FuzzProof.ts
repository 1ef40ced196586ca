/** Fuzzing with millions of inputs: runs the fuzz tests for any duration. */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { LongForm } from "@weft/tooling/fuzz"
import { Schema } from "effect"
import type { Proof, ProofOptions } from "../Proof.ts"

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
  /** Output of the tests if one failed. */
  readonly output: string | null
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
        resolve({ reports, output: error === null ? null : `${stdout}\n${stderr}` })
      }
    )
    process.once("exit", () => child.kill("SIGKILL"))
  })

const sum = (reports: ReadonlyArray<Report>, of: (report: Report) => number): number =>
  reports.reduce((all, report) => all + of(report), 0)

const describe = ({ target, inputs, taken, seconds, fresh, functions, slowestMs }: Report): string => {
  const share = Math.round((100 * taken) / Math.max(1, inputs))
  const guided = functions === 0 ? "" : `, ${fresh} reached new code in ${functions} functions`
  return `${target}: ${Math.round(inputs / seconds)} inputs per second, ${share} % accepted${guided}, slowest ${Math.round(slowestMs)} ms`
}

const run = async ({ minutes, seed, only, progress }: ProofOptions) => {
  const folder = mkdtempSync(join(tmpdir(), "weft-fuzz-"))
  try {
    progress("fuzzing all targets, two files at a time")
    const { reports, output } = await runAll({ minutes: minutes ?? 1, seed: seed ?? 1, only: only ?? null, folder })
    const failures = reports.flatMap((report) => report.failures.map((text) => `${report.target}/${text}`))
    if (reports.length === 0) failures.push("no target was fuzzed: --only names no target, or the tests did not start")
    if (output !== null && failures.length === 0) failures.push(`the tests failed: ${output.slice(-2000)}`)
    const figures = [
      ["targets", reports.length] as const,
      ...reports.map(({ target, inputs }) => [`inputs to ${target}`, inputs] as const),
      ["inputs, total", sum(reports, ({ inputs }) => inputs)] as const,
      ["inputs recorded, which every test run repeats", sum(reports, ({ kept }) => kept)] as const,
      ["failures", failures.length] as const
    ]
    return { figures, failures, notes: reports.map(describe) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const fuzzProof: Proof = {
  title: "Bad input",
  does: `All code that reads untrusted input gets valid, almost valid and invalid inputs. A grammar generates them, and
mutations change them; an input that reaches new code is mutated again. The targets are zips and forms of builds,
metadata, permission maps, cron expressions, schedules, tokens, stream positions and webhooks. Further targets are
messages of a compromised runner, and bytes on a connection. The latter include two lengths of one body, folded headers, invalid chunks and
requests within requests. \`--minutes\` applies to each target, and \`--only\` selects one. A failing input is minimized
and recorded in \`proof/corpora\`.`,
  shows: `every reader agrees with a second, simple implementation: files of zips, bytes of forms in any fragmentation,
granted permissions, and times of schedules. Connections get responses without 5xx and with the envelope, or are closed,
and no request has two readings. A compromised runner cannot act for others or exhaust memory or time.`,
  doesNotShow: `the absence of failing inputs. None was found in this time.`,
  run
}
