/** Counts the runs that ended on this node and the commits of its journal. */
import { type AnySeries, Distribution } from "../../foundation/telemetry/Series.ts"
import type { Run } from "../runs/Run.ts"
import type { JournalEntry } from "./JournalStore.ts"

export class JournalMeter {
  /** Counts by run type and status, separated by a space. */
  readonly #ended = new Map<string, number>()
  readonly #entries = new Distribution([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
  readonly #seconds = new Distribution([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 2])

  countCommit(entries: number, seconds: number): void {
    this.#entries.add(entries)
    this.#seconds.add(seconds)
  }

  /** Counts the run if the entry ends one. */
  countEntry(entry: JournalEntry): void {
    if (entry._tag === "Ended" || entry._tag === "Settled") this.countEnded(entry.run)
  }

  countEnded({ run_type, status }: Pick<Run, "run_type" | "status">): void {
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
      this.#seconds.series("weft_journal_commit_seconds", "Duration of a commit of the journal")
    ]
  }
}
