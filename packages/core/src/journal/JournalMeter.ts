/** What a node counts of its journal: the runs that ended in it, and its commits. */
import { type AnySeries, Distribution } from "../metrics/Series.ts"
import type { Run } from "../runs/Run.ts"
import type { JournalEntry } from "./JournalStore.ts"

export class JournalMeter {
  /** By type and status, separated by a space. */
  readonly #ended = new Map<string, number>()
  readonly #entries = new Distribution([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
  readonly #seconds = new Distribution([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2])

  committed(entries: number, seconds: number): void {
    this.#entries.add(entries)
    this.#seconds.add(seconds)
  }

  /** Counts what the entry ends, if it ends a run. */
  wrote(entry: JournalEntry): void {
    if (entry._tag === "Ended" || entry._tag === "Settled") this.ended(entry.run)
  }

  ended({ run_type, status }: Run): void {
    const key = `${run_type} ${status}`
    this.#ended.set(key, (this.#ended.get(key) ?? 0) + 1)
  }

  read(): ReadonlyArray<AnySeries> {
    const ended = [...this.#ended].map(([key, value]): AnySeries => {
      const [type = "", status = ""] = key.split(" ")
      return {
        type: "counter",
        name: "weft_runs_total",
        help: "Runs that ended on this node",
        labels: { type, status },
        value
      }
    })
    return [
      ...ended,
      this.#entries.series("weft_journal_commit_entries", "Entries in a commit of the journal"),
      this.#seconds.series("weft_journal_commit_seconds", "How long a commit of the journal took")
    ]
  }
}
