/** Runs the test suites and counts the tests by what they check. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import type { Proof } from "../Proof.ts"

const root = new URL("../../../", import.meta.url)

interface Group {
  readonly label: string
  readonly project: string
  readonly paths: ReadonlyArray<string>
}

const groups: ReadonlyArray<Group> = [
  { label: "rows of the specification, SQLite and files", project: "http", paths: ["adapters/http/test/conformance"] },
  {
    label: "rows of the specification, PostgreSQL and S3",
    project: "http on postgres",
    paths: ["adapters/http/test/conformance"]
  },
  {
    label: "responses to 10,000 random requests and similar inputs",
    project: "http",
    paths: ["adapters/http/test/fuzz"]
  },
  { label: "ids of other tenants at every endpoint", project: "http", paths: ["adapters/http/test/isolation"] },
  {
    label: "contracts of the stores in memory, and their faults",
    project: "suites",
    paths: ["packages/contract/test"]
  },
  { label: "contracts of the stores on SQLite", project: "suites", paths: ["adapters/sqlite/test"] },
  { label: "contracts of the stores on PostgreSQL", project: "postgres", paths: ["adapters/postgres/test"] },
  { label: "the sandbox and its guests", project: "suites", paths: ["packages/sandbox/test"] },
  {
    label: "real servers: crash, drain, rotation, backup, leaks",
    project: "heavy",
    paths: ["examples/standalone/test"]
  }
]

const Report = Schema.Struct({
  numPassedTests: Schema.Int,
  numFailedTests: Schema.Int,
  numPendingTests: Schema.Int,
  testResults: Schema.Array(
    Schema.Struct({
      assertionResults: Schema.Array(Schema.Struct({ fullName: Schema.String, status: Schema.String }))
    })
  )
})
type Report = typeof Report.Type

const runGroup = async ({ project, paths }: Group): Promise<Report> => {
  const folder = mkdtempSync(join(tmpdir(), "weft-proof-"))
  const file = join(folder, "report.json")
  try {
    const args = ["run", "--project", project, "--reporter=json", `--outputFile=${file}`, ...paths]
    // The report contains failures, so the exit code is ignored.
    await new Promise<void>((resolve) => {
      execFile("node_modules/.bin/vitest", args, { cwd: root, maxBuffer: 2 ** 28 }, () => resolve())
    })
    return Schema.decodeUnknownSync(Schema.fromJsonString(Report))(readFileSync(file, "utf8"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const testsProof: Proof = {
  title: "Tests",
  does: `Runs and counts the tests of the specification, the store contracts, the sandbox and real servers.`,
  shows: `every row of the specification has a test that passes on each back end. All stores fulfil one contract, also when
the layers below fail.`,
  doesNotShow: `faults without a test; the other proofs search for them.`,
  run: async ({ progress }) => {
    const figures: Array<readonly [string, number]> = []
    const failures: Array<string> = []
    let passed = 0
    let pending = 0
    for (const group of groups) {
      progress(group.label)
      const report = await runGroup(group)
      if (report.numPassedTests === 0) failures.push(`${group.label}: no test passed`)
      figures.push([group.label, report.numPassedTests])
      passed += report.numPassedTests
      pending += report.numPendingTests
      for (const { fullName, status } of report.testResults.flatMap(({ assertionResults }) => assertionResults)) {
        if (status === "failed") failures.push(`${group.label}: ${fullName}`)
      }
    }
    figures.push(["tests that passed", passed], ["tests that failed", failures.length], ["tests skipped", pending])
    return { figures, failures, notes: [] }
  }
}
