/** Stores of the scrubber with one fault each, which the contract must detect. */
import { scrubStoreChecks } from "@weft/contract"
import { ScrubStore } from "@weft/core/adapter"
import { Effect } from "effect"
import { nodeId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

const scrubs = (change: (store: ScrubStore["Service"]) => Partial<ScrubStore["Service"]>) => faulty(ScrubStore, change)

detects("the contract of the scrubber's store", scrubStoreChecks, {
  "lets several nodes verify": scrubs((store) => ({
    claim: (_, now, until) => store.claim(nodeId(1), now, until),
    advance: (_, position, until) => store.advance(nodeId(1), position, until)
  })),
  "never releases a claim": scrubs((store) => ({ claim: (node, _, until) => store.claim(node, until, until) })),
  "forgets the position": scrubs((store) => ({
    claim: (...args) => Effect.map(store.claim(...args), (position) => (position === null ? null : ""))
  })),
  "advances without a claim": scrubs((store) => ({
    advance: (...args) => Effect.as(store.advance(...args), true)
  })),
  "returns targets from the start": scrubs((store) => ({ targets: (_, limit) => store.targets("", limit) })),
  "ignores the limit": scrubs((store) => ({ targets: (position) => store.targets(position, 1000) })),
  "loses the checksums": scrubs((store) => ({
    targets: (...args) =>
      Effect.map(store.targets(...args), (all) => all.map((target) => ({ ...target, checksum: null })))
  })),
  "returns files only": scrubs((store) => ({
    targets: (...args) => Effect.map(store.targets(...args), (all) => all.filter(({ kind }) => kind === "file"))
  }))
})
