/**
 * Journal entries as one flat list of values. Threads transfer it in a tenth of the time that objects take.
 *
 * | entry    | values                                                                                     |
 * | -------- | ------------------------------------------------------------------------------------------ |
 * | appended | 0, `eventRow`, the number of deliveries, for each: 1 and `startRow`, or 0 and `deliveryRow` |
 * | started  | 1, `startRow`                                                                              |
 * | ended    | 2, `endedRow`                                                                              |
 * | settled  | 3, `settledRow`, 1 and `requeueRow` if there is another attempt, else 0; 1 and the rest of `appended` if an event follows, else 0 |
 * | settled  | 4 instead of 3 if the run is durable                                                       |
 * | advanced | 5, `stepCountRow` with 0 for no count, the numbers of the following rows, `stepRow`s, `waitRow`s, `waitKeyRow`s and `suspendRow`s |
 */
import type { FollowUp, JournalEntry } from "@weft/core/adapter"
import {
  deliveryRow,
  endedRow,
  entryProgress,
  eventRow,
  logsText,
  type Rows,
  requeueRow,
  settledRow,
  startRow,
  stepCountRow,
  stepRow,
  suspendRow,
  toDeliveryRow,
  toEndRow,
  toHolder,
  toRequeueRow,
  toStartRow,
  waitKeyRow,
  waitRow
} from "@weft/sql"

type Advanced = Extract<JournalEntry, { _tag: "Advanced" }>
type EventRows = Pick<Extract<JournalEntry, { _tag: "Appended" }>, "event" | "deliveries">

export const entryTags = { appended: 0, started: 1, ended: 2, settled: 3, settledDurable: 4, advanced: 5 } as const

/** The rows of an advanced entry, in their order. */
export const progressParts = [
  { of: "steps", width: stepRow.width },
  { of: "waits", width: waitRow.width },
  { of: "endedWaits", width: waitKeyRow.width },
  { of: "suspensions", width: suspendRow.width }
] as const

export const toRows = (entries: ReadonlyArray<JournalEntry>): Rows => {
  const rows: Rows = []
  for (const entry of entries) addEntry(rows, entry)
  return rows
}

const addEntry = (rows: Rows, entry: JournalEntry): void => {
  switch (entry._tag) {
    case "Appended":
      rows.push(entryTags.appended)
      addEvent(rows, entry)
      return
    case "Started":
      rows.push(entryTags.started)
      startRow.append(rows, toStartRow(entry.run, null))
      return
    case "Ended":
      rows.push(entryTags.ended)
      endedRow.append(rows, toEndRow(entry.run, logsText(entry.logs), null))
      return
    case "Settled":
      rows.push(entry.run.activations === null ? entryTags.settled : entryTags.settledDurable)
      settledRow.append(rows, toEndRow(entry.run, logsText(entry.logs), entry.deliveryId, entry.isDead))
      rows.push(entry.next === null ? 0 : 1)
      if (entry.next !== null) requeueRow.append(rows, toRequeueRow(entry.run, entry.deliveryId, entry.next))
      rows.push(entry.followUp === undefined ? 0 : 1)
      if (entry.followUp !== undefined) addEvent(rows, toEventRows(entry.followUp))
      return
    case "Advanced":
      rows.push(entryTags.advanced)
      addProgress(rows, entry)
  }
}

const addEvent = (rows: Rows, { event, deliveries }: EventRows): void => {
  eventRow.append(rows, event)
  rows.push(deliveries.length)
  for (const { delivery, run } of deliveries) {
    rows.push(run === null ? 0 : 1)
    if (run === null) deliveryRow.append(rows, toDeliveryRow(delivery))
    else startRow.append(rows, toStartRow(run, delivery))
  }
}

const toEventRows = ({ event, deliveries }: FollowUp): EventRows => ({
  event,
  deliveries: deliveries.map((delivery) => ({ delivery, run: null }))
})

const addProgress = (rows: Rows, entry: Advanced): void => {
  const progress = entryProgress(entry)
  if (progress.stepCounts.length > 0) rows.push(...progress.stepCounts)
  else stepCountRow.append(rows, { ...toHolder(entry), steps: 0 })
  for (const { of, width } of progressParts) rows.push(progress[of].length / width)
  for (const { of } of progressParts) for (const value of progress[of]) rows.push(value)
}
