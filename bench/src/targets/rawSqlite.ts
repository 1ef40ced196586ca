/** The limit of the jobs suite: the same rows written by the driver alone, a commit per hundred, nothing executed. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const group = 100

export const rawSqlite = async (events: number, payload: string): Promise<Readonly<Record<string, number>>> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-bench-"))
  const db = new DatabaseSync(join(dir, "raw.db"))
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  db.exec("CREATE TABLE events (id INTEGER PRIMARY KEY, data TEXT)")
  db.exec("CREATE TABLE deliveries (id INTEGER PRIMARY KEY, event INTEGER)")
  db.exec("CREATE TABLE runs (id INTEGER PRIMARY KEY, event INTEGER, status TEXT, result TEXT)")
  const addEvent = db.prepare("INSERT INTO events VALUES (?, ?)")
  const addDelivery = db.prepare("INSERT INTO deliveries VALUES (?, ?)")
  const addRun = db.prepare("INSERT INTO runs VALUES (?, ?, 'running', NULL)")
  const endRun = db.prepare("UPDATE runs SET status = 'succeeded', result = ? WHERE id = ?")
  const endDelivery = db.prepare("DELETE FROM deliveries WHERE id = ?")
  const began = performance.now()
  for (let first = 0; first < events; first += group) {
    db.exec("BEGIN IMMEDIATE")
    for (let n = first; n < first + group; n++) {
      addEvent.run(n, JSON.stringify({ n, payload }))
      addDelivery.run(n, n)
      addRun.run(n, n)
    }
    db.exec("COMMIT; BEGIN IMMEDIATE")
    for (let n = first; n < first + group; n++) {
      endRun.run(JSON.stringify({ done: n }), n)
      endDelivery.run(n)
    }
    db.exec("COMMIT")
  }
  const seconds = (performance.now() - began) / 1000
  db.close()
  rmSync(dir, { recursive: true, force: true })
  return { "finished per second": events / seconds }
}
