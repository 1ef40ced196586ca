/** Tests of the contract: stores with a fault in the events about ends of runs, which the suite must detect. */
import { journalStoreChecks } from "@weft/contract"
import { JournalStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { detects, faulty } from "./Faults.ts"

detects("the journal's contract about ends of runs", journalStoreChecks({ exclusive: false }), {
  "loses events about the ends of runs": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      store.commit(
        entries.map((entry) => {
          if (entry._tag !== "Settled") return entry
          const { followUp: _, ...settled } = entry
          return settled
        }),
        lease
      )
  })),
  "stores events about ends that do not count": faulty(JournalStore, (store) => ({
    commit: (entries, lease) =>
      Effect.tap(store.commit(entries, lease), () =>
        store.commit(
          entries.flatMap((entry) =>
            entry._tag === "Settled" && entry.followUp !== undefined
              ? [{ _tag: "Appended" as const, event: entry.followUp.event, deliveries: [] }]
              : []
          ),
          null
        )
      )
  }))
})
