/**
 * Writes that wait for a commit.
 *
 * A commit with 30 events of 4 MiB takes a second, in which every other run of the node would wait for the disk. So large
 * writes have a byte limit per commit, and only one commit in flight has some. Environments take turns with theirs. Small
 * writes pass them: a write that depends on another is queued after the other is durable. A commit with large writes is
 * followed by one without, so that a small write waits for at most one of them. Each environment has limits for its small
 * ones, which are many.
 */
import type { EnvId } from "../../foundation/Ids.ts"
import type { LogEntry } from "../runs/Run.ts"
import type { JournalEntry } from "./JournalStore.ts"

/** Texts of an entry above which it is large, in characters. */
const largeLength = 64 * 1024

/** Maximum characters of all large entries of a commit, about 5 ms on a disk. The first one is always taken. */
const largeLengthPerCommit = 1024 * 1024

/** Maximum characters of one environment's small entries per commit. Its further ones remain, and those of others pass. */
const envLengthPerCommit = 1024 * 1024

/** Maximum small entries of one environment per commit while others write as well: about 5 ms of the database. */
const envEntriesPerCommit = 100

/** Commits for which an environment counts as one that writes. */
const activeCommits = 100

interface Write {
  readonly entry: JournalEntry
}

/** The part of a commit that belongs to one environment. */
interface Share {
  entries: number
  length: number
  isFull: boolean
}

export class WriteQueue<W extends Write> {
  #small: Array<W> = []
  #latestEnvId: EnvId | null = null
  /** Commits so far, and their number when an entry of another environment than that of the previous entry was added. */
  #commits = 0
  #changedAt = Number.NEGATIVE_INFINITY
  /** Large writes by environment, in the order of the environments' turns. */
  readonly #large = new Map<EnvId, Array<W>>()
  #largeCount = 0
  /** True if the latest commit has large writes. */
  #wasLarge = false

  get size(): number {
    return this.#small.length + this.#largeCount
  }

  get smallSize(): number {
    return this.#small.length
  }

  /** The first small entry, and the first large one of each environment. */
  get firsts(): ReadonlyArray<JournalEntry> {
    const firsts = this.#small[0] === undefined ? [] : [this.#small[0].entry]
    for (const [first] of this.#large.values()) if (first !== undefined) firsts.push(first.entry)
    return firsts
  }

  push(write: W): void {
    const { entry } = write
    const envId = readEnvId(entry)
    if (envId !== this.#latestEnvId) {
      if (this.#latestEnvId !== null) this.#changedAt = this.#commits
      this.#latestEnvId = envId
    }
    if (measureEntry(entry) <= largeLength) {
      this.#small.push(write)
      return
    }
    const queued = this.#large.get(envId)
    if (queued === undefined) this.#large.set(envId, [write])
    else queued.push(write)
    this.#largeCount++
  }

  /**
   * Removes the writes of the next commit, at most `max`. Takes large ones only if `withLarge`, and not after another commit
   * with large ones if small ones wait.
   */
  take(max: number, withLarge: boolean): { readonly batch: ReadonlyArray<W>; readonly hasLarge: boolean } {
    this.#commits++
    const takesLarge = withLarge && this.#largeCount > 0 && !(this.#wasLarge && this.#small.length > 0)
    const large = takesLarge ? this.#takeLarge(max) : []
    this.#wasLarge = large.length > 0
    const batch = [...this.#takeSmall(max - large.length), ...large]
    return { batch, hasLarge: large.length > 0 }
  }

  #takeSmall(max: number): ReadonlyArray<W> {
    const isShared = this.#commits - this.#changedAt <= activeCommits
    const entriesMax = isShared ? envEntriesPerCommit : Number.POSITIVE_INFINITY
    if (this.#small.length > entriesMax) return this.#takeSmallFairly(max, entriesMax)
    let length = 0
    for (let index = 0; index < Math.min(max, this.#small.length) && length <= envLengthPerCommit; index++) {
      const write = this.#small[index]
      if (write !== undefined) length += measureEntry(write.entry)
    }
    return length <= envLengthPerCommit ? this.#small.splice(0, max) : this.#takeSmallFairly(max, entriesMax)
  }

  #takeSmallFairly(max: number, entriesMax: number): ReadonlyArray<W> {
    const taken: Array<W> = []
    const rest: Array<W> = []
    const shares = new Map<EnvId, Share>()
    for (const write of this.#small) {
      const envId = readEnvId(write.entry)
      const share = shares.get(envId) ?? { entries: 0, length: 0, isFull: false }
      shares.set(envId, share)
      share.entries++
      share.length += measureEntry(write.entry)
      // Once one entry of the environment remains, its later small ones do not pass it.
      share.isFull ||= taken.length >= max || share.entries > entriesMax || share.length > envLengthPerCommit
      if (share.isFull) rest.push(write)
      else taken.push(write)
    }
    this.#small = rest
    return taken
  }

  /** Removes and returns all writes. */
  takeAll(): ReadonlyArray<W> {
    const all = [...this.#small, ...[...this.#large.values()].flat()]
    this.#small = []
    this.#large.clear()
    this.#largeCount = 0
    return all
  }

  #takeLarge(max: number): ReadonlyArray<W> {
    const taken: Array<W> = []
    let length = 0
    for (const [envId, queued] of [...this.#large]) {
      const [next] = queued
      if (next === undefined) continue
      const nextLength = measureEntry(next.entry)
      if (taken.length > 0 && (taken.length >= max || length + nextLength > largeLengthPerCommit)) break
      length += nextLength
      taken.push(next)
      queued.shift()
      // The environment's turn has ended: its other writes go to the end.
      this.#large.delete(envId)
      if (queued.length > 0) this.#large.set(envId, queued)
    }
    this.#largeCount -= taken.length
    return taken
  }
}

const readEnvId = (entry: JournalEntry): EnvId => (entry._tag === "Appended" ? entry.event.env_id : entry.run.env_id)

/** Returns the characters of an entry's texts of any length: event data, results and logs. */
export const measureEntry = (entry: JournalEntry): number => {
  switch (entry._tag) {
    case "Appended":
      return entry.event.event_data.length
    case "Started":
      return 0
    case "Ended":
      return (entry.run.result?.length ?? 0) + measureLogs(entry.logs)
    case "Settled":
      return (entry.run.result?.length ?? 0) + measureLogs(entry.logs) + (entry.followUp?.event.event_data.length ?? 0)
    case "Advanced":
      return (
        entry.steps.reduce((length, { result }) => length + (result?.length ?? 0), 0) +
        entry.waits.reduce((length, { outcome }) => length + (outcome?.length ?? 0), 0) +
        measureLogs(entry.suspension?.logs ?? [])
      )
  }
}

const measureLogs = (logs: ReadonlyArray<LogEntry>): number =>
  logs.reduce((length, { message, data }) => length + message.length + (data?.length ?? 0), 0)
