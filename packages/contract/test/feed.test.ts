/** The contract of cluster buses on an in-memory network, and on networks with one fault each, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { clusterBusChecks } from "@weft/contract"
import { Effect, Exit } from "effect"
import { makeTime } from "../src/LifecycleNodes.ts"
import { memoryNetwork, type NetworkFaults } from "./MemoryNetwork.ts"

const { during } = makeTime(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))))

describe("ClusterBus contract: in memory", () => {
  for (const { name, body } of clusterBusChecks) it.effect(name, () => during(Effect.provide(body, memoryNetwork())))
})

const faults: Readonly<Record<string, NetworkFaults>> = {
  "loses the first text": { sent: (texts) => texts.slice(1) },
  "reverses the order of a batch": { sent: (texts) => texts.toReversed() },
  "truncates large texts": { sent: (texts) => texts.map((text) => text.slice(0, 4000)) },
  "mixes systems": { isShared: true },
  "never reports an outage": { reportsOutages: false }
}

describe("the contract of cluster buses detects a network that", () => {
  for (const [fault, how] of Object.entries(faults)) {
    it.effect(fault, () =>
      Effect.gen(function* () {
        const exits = yield* during(
          Effect.forEach(clusterBusChecks, ({ body }) => Effect.exit(Effect.provide(body, memoryNetwork(how))), {
            concurrency: "unbounded"
          })
        )
        assert.isAbove(exits.filter(Exit.isFailure).length, 0)
      })
    )
  }
})
