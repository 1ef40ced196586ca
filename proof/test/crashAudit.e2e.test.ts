/** The audit of durable runs finds every kind of violation: faults are planted in the evidence of runs that really happened. */

import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { auditDatabase } from "../src/crash/Audit.ts"
import {
  auditDurableRuns,
  type DurableEvidence,
  readDurableEvidence,
  type StoredRecord,
  type StoredRun
} from "../src/crash/DurableAudit.ts"
import { durableWorkload } from "../src/crash/DurableWorkload.ts"
import { type Environment, openEnvironment, setUp } from "../src/crash/Environment.ts"
import { openQuery } from "../src/crash/Query.ts"

let environment: Environment
let evidence: DurableEvidence
beforeAll(async () => {
  environment = await openEnvironment("sqlite")
  await environment.start()
  await setUp(environment)
  for (const operation of Object.values(durableWorkload)) await operation(environment.harness)
  await environment.harness.check()
  evidence = await readDurableEvidence(openQuery(environment))
}, 60_000)
afterAll(() => environment.close())

const audit = (changed: Partial<DurableEvidence>): string =>
  auditDurableRuns({ ...evidence, ...changed }, environment.harness.durable).join("\n")

const isOf = (name: string) => (record: StoredRecord) => record.name === name

const findRecord = (name: string): StoredRecord => {
  const found = evidence.records.find(isOf(name))
  if (found === undefined) throw new Error(`No record has the name ${name}`)
  return found
}

const changeRecord = (name: string, change: Partial<StoredRecord>) => ({
  records: evidence.records.map((record) => (record.name === name ? { ...record, ...change } : record))
})

const changeRun = (fn: string, change: Partial<StoredRun>) => ({
  runs: evidence.runs.map((run) => (run.fn === fn ? { ...run, ...change } : run))
})

const keyOf = ({ run_id, seq }: StoredRecord): string => `${run_id}:${seq}`

const addExecution = (name: string, afterMs: number) => {
  const record = findRecord(name)
  const execution = { key: keyOf(record), created_at: record.ended_at + afterMs }
  return { executions: [...evidence.executions, execution] }
}

describe("The audit of durable runs", () => {
  it("accepts runs without a violation", async () => {
    expect(environment.harness.violations).toEqual([])
    expect(auditDurableRuns(evidence, environment.harness.durable)).toEqual([])
    expect(evidence.records.filter(({ kind }) => kind === "step").length).toBeGreaterThan(25)
  })

  it.each([
    [
      "a record that was dropped",
      () => ({ records: evidence.records.filter((each) => each.name !== "second") }),
      [
        "the record of step second is missing",
        "the positions of its records have gaps",
        "was executed but has no record"
      ]
    ],
    [
      "a record that was stored twice",
      () => ({ records: [...evidence.records, findRecord("second")] }),
      ["step second is recorded twice", "a request has two records"]
    ],
    ["a result that was changed", () => changeRecord("second", { result: {} }), ["it received"]],
    ["an undo that received another result", () => changeRecord("undo car", { result: {} }), ["undo car received"]],
    [
      "undone steps in another order",
      () => ({
        records: evidence.records.map((each) =>
          each.name === "undo car"
            ? { ...each, name: "undo flight" }
            : each.name === "undo flight"
              ? { ...each, name: "undo car" }
              : each
        )
      }),
      ["its records are in another order"]
    ],
    [
      "a body that was executed after its record",
      () => addExecution("second", 1),
      ["the body of second was executed after its record", "executed 2 times for 1 attempts and 0 crashes"]
    ],
    [
      "a body that was repeated without a crash",
      () => addExecution("second", -1),
      ["executed 2 times for 1 attempts and 0 crashes"]
    ],
    [
      "a body that was not executed",
      () => ({
        executions: evidence.executions.filter(({ key }) => key !== keyOf(findRecord("last")))
      }),
      ["the body of last was not executed before its record"]
    ],
    ["a run that did not end", () => changeRun("flow", { status: "running", result: null }), ["it is running"]],
    [
      "a run that was lost",
      () => ({ runs: evidence.runs.filter(({ fn }) => fn !== "flow") }),
      ["started 0 durable runs instead of 1"]
    ],
    [
      "a child run that was started twice",
      () => ({
        runs: [...evidence.runs, ...evidence.runs.filter(({ fn }) => fn === "trip")]
      }),
      ['it started ["trip","trip","visit"]']
    ],
    ["runs without a recorded execution", () => ({ executions: [] }), ["there is nothing to audit"]]
  ])("reports %s", (_what, plant, messages) => {
    const found = audit(plant())
    for (const message of messages) expect(found).toContain(message)
  })

  it("fails if no durable run was started", () => {
    expect(auditDurableRuns({ runs: [], records: [], executions: [] }, new Map())).toEqual([
      "no durable run was started, so there is nothing to audit",
      "no execution of a step was recorded, so there is nothing to audit"
    ])
  })

  it("reads violations from the database", async () => {
    const { key } = { key: keyOf(findRecord("second")) }
    const body = { event_type: "flow:body", event_data: { key } }
    await environment.harness.request("POST", "/v1/events", { body })
    await environment.server().close()
    const file = new DatabaseSync(join(environment.dataDir, "weft.db"))
    file.exec("DELETE FROM workflow_steps WHERE name = 'last'")
    file.close()
    const found = (await auditDatabase(environment)).join("\n")
    expect(found).toContain("the body of second was executed after its record")
    expect(found).toContain("the record of step last is missing")
  })
})
