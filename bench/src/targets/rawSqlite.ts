/** The limit on SQLite: the driver alone writes the same rows. No user code runs. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { makeJob, toResult } from "../programs/JobProgram.ts"
import { serve } from "../programs/Serve.ts"
import { Starts } from "../programs/Starts.ts"
import { GroupCommit, workflowsOf } from "./GroupCommit.ts"

const open = (file: string) => {
  const db = new DatabaseSync(file)
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  db.exec("CREATE TABLE events (id INTEGER PRIMARY KEY, data TEXT)")
  db.exec("CREATE TABLE deliveries (id INTEGER PRIMARY KEY, event INTEGER)")
  db.exec("CREATE TABLE runs (id INTEGER PRIMARY KEY, event INTEGER, status TEXT, result TEXT)")
  const addEvent = db.prepare("INSERT INTO events VALUES (?, ?)")
  const addDelivery = db.prepare("INSERT INTO deliveries VALUES (?, ?)")
  const addRun = db.prepare("INSERT INTO runs VALUES (?, ?, 'running', NULL)")
  const endRun = db.prepare("UPDATE runs SET status = 'succeeded', result = ? WHERE id = ?")
  const endDelivery = db.prepare("DELETE FROM deliveries WHERE id = ?")
  const result = db.prepare("SELECT result FROM runs WHERE id = ?")
  return {
    commit: (begun: ReadonlyArray<number>, ended: ReadonlyArray<number>): void => {
      db.exec("BEGIN IMMEDIATE")
      for (const n of begun) {
        addEvent.run(n, JSON.stringify(makeJob(n)))
        addDelivery.run(n, n)
        addRun.run(n, n)
      }
      for (const n of ended) {
        endRun.run(JSON.stringify(toResult(n)), n)
        endDelivery.run(n)
      }
      db.exec("COMMIT")
    },
    result: (n: number): unknown => JSON.parse(String(result.get(n)?.result)),
    close: () => db.close()
  }
}

await serve(async ({ variant }) => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-"))
  const { commit, result, close: closeDatabase } = open(join(dir, "raw.db"))
  const starts = new Starts()
  const group = new GroupCommit(commit)
  const publish = async (n: number): Promise<void> => {
    await group.begin(n)
    starts.record(n)
  }
  const settings = { durability: "node:sqlite, WAL, synchronous=FULL", tuned: "one commit for all pending jobs" }
  const close = async (): Promise<void> => {
    closeDatabase()
    rmSync(dir, { recursive: true, force: true })
  }
  if (variant === "workflows") return { settings, ...workflowsOf(group), close }
  return {
    settings,
    publish,
    publishMany: async (first, count) => {
      await Promise.all(Array.from({ length: count }, (_, index) => group.begin(first + index)))
    },
    finished: async () => group.ended,
    result: async (n) => result(n),
    startedAt: (n) => starts.of(n),
    flow: async (n) => {
      for (const step of [0, 1, 2]) await group.begin(-3 * n - step - 1)
    },
    close
  }
})
