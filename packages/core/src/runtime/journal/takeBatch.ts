/**
 * Chooses the entries of a commit, fair between environments.
 *
 * The entries of a commit become durable together, so each waits for the bytes of the others. One environment may have
 * thousands of entries with a megabyte each. So a commit has a limited length of each environment, and leaves out its
 * further entries, while those of other environments pass them.
 */
import type { EnvId } from "../../foundation/Ids.ts"
import type { LogEntry } from "../runs/Run.ts"
import type { JournalEntry } from "./JournalStore.ts"

/** Maximum characters of one environment per commit. A single longer entry is accepted. */
const envLengthMax = 1024 * 1024

/** Maximum characters per commit. */
const batchLengthMax = 8 * 1024 * 1024

/** Removes the next batch from `pending`, which keeps its order, and returns it: at most `countMax` entries. */
export const takeBatch = <Write extends { readonly entry: JournalEntry }>(
  pending: Array<Write>,
  countMax: number
): ReadonlyArray<Write> => {
  const count = Math.min(pending.length, countMax)
  let length = 0
  for (let index = 0; index < count && length <= envLengthMax; index++) {
    const write = pending[index]
    if (write !== undefined) length += lengthOf(write.entry)
  }
  return length <= envLengthMax ? pending.splice(0, count) : takeFairly(pending, countMax)
}

const takeFairly = <Write extends { readonly entry: JournalEntry }>(
  pending: Array<Write>,
  countMax: number
): ReadonlyArray<Write> => {
  const batch: Array<Write> = []
  const rest: Array<Write> = []
  const lengths = new Map<EnvId, number>()
  let total = 0
  for (const write of pending) {
    const envId = envOf(write.entry)
    const ofEnv = lengths.get(envId) ?? 0
    const length = lengthOf(write.entry)
    const fits = ofEnv === 0 || ofEnv + length <= envLengthMax
    if (batch.length < countMax && fits && (batch.length === 0 || total + length <= batchLengthMax)) {
      batch.push(write)
      lengths.set(envId, Math.max(1, ofEnv + length))
      total += length
    } else {
      rest.push(write)
      // Later entries of the environment do not pass this one.
      lengths.set(envId, Number.POSITIVE_INFINITY)
    }
  }
  for (const [index, write] of rest.entries()) pending[index] = write
  pending.length = rest.length
  return batch
}

const envOf = (entry: JournalEntry): EnvId => (entry._tag === "Appended" ? entry.event.env_id : entry.run.env_id)

/** Returns the characters of an entry that may be many. */
const lengthOf = (entry: JournalEntry): number => {
  switch (entry._tag) {
    case "Appended":
      return entry.event.event_data.length
    case "Started":
      return 0
    case "Ended":
    case "Settled":
      return (entry.run.result?.length ?? 0) + logLength(entry.logs)
    case "Advanced": {
      let length = logLength(entry.suspension?.logs ?? [])
      for (const { result } of entry.steps) length += result?.length ?? 0
      for (const { match } of entry.waits) length += match?.length ?? 0
      return length
    }
  }
}

const logLength = (logs: ReadonlyArray<LogEntry>): number => {
  let length = 0
  for (const { message, data } of logs) length += message.length + (data?.length ?? 0)
  return length
}
