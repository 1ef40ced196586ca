/**
 * Journal entries as one flat list of values, which threads hand each other in a tenth of the time that objects take.
 *
 * | entry    | values                                                                     |
 * | -------- | -------------------------------------------------------------------------- |
 * | appended | 0, the event, how many deliveries, each: 1, its run, or 0, the delivery     |
 * | started  | 1, the run                                                                 |
 * | ended    | 2, the run with what became of it                                          |
 * | settled  | 3, what became of the run, what it counts as, 1 and when it is next, or 0  |
 *
 * Events, runs and deliveries are rows of the journal's statements.
 */
import type { JournalEntry, Run } from "@weft/core"
import { addDelivery, addEnd, addEnded, addEvent, addGivenBack, addStart, logsText, type Rows } from "@weft/sql"

export const entryTags = { appended: 0, started: 1, ended: 2, settled: 3 } as const

export const toRows = (entries: ReadonlyArray<JournalEntry>): Rows => {
  const rows: Rows = []
  for (const entry of entries) addEntry(rows, entry)
  return rows
}

const addEntry = (rows: Rows, entry: JournalEntry): void => {
  switch (entry._tag) {
    case "Appended":
      rows.push(entryTags.appended)
      addEvent(rows, entry.event)
      rows.push(entry.deliveries.length)
      for (const { delivery, run } of entry.deliveries) {
        rows.push(run === null ? 0 : 1)
        if (run === null) addDelivery(rows, delivery)
        else addStart(rows, run, delivery)
      }
      return
    case "Started":
      rows.push(entryTags.started)
      addStart(rows, entry.run, null)
      return
    case "Ended":
      rows.push(entryTags.ended)
      addEnded(rows, entry.run, logsText(entry.logs))
      return
    case "Settled":
      rows.push(entryTags.settled)
      addEnd(rows, entry.run, logsText(entry.logs), entry.deliveryId)
      addCounted(rows, entry.run)
      rows.push(entry.next === null ? 0 : 1)
      if (entry.next !== null) addGivenBack(rows, entry.run, entry.deliveryId, entry.next)
  }
}

const addCounted = (rows: Rows, run: Run): void => {
  rows.push(run.project_id, run.project_name, run.run_type, run.start_time)
}
