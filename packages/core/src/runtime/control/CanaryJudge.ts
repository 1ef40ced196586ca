/**
 * Applies the rules of active canaries: rolls back, or promotes at the end of the window.
 *
 * Every node stores what it counted once a second, if anything, and decides on the sum of all nodes. If its own counts break a
 * rule it does so at once. The store lets only one node end a canary.
 */
import { Effect, Layer } from "effect"
import { forkSupervised } from "../../foundation/Supervised.ts"
import { now as currentTime } from "../../foundation/time/Timestamp.ts"
import { decide, windowEnd } from "../../resources/builds/CanaryCounts.ts"
import { CanaryStore } from "../../resources/builds/CanaryStore.ts"
import { ActiveCanaries, type ObservedCanary } from "../journal/ActiveCanaries.ts"
import { NodeLease } from "../journal/NodeLease.ts"
import { CanaryEnds } from "./CanaryEnds.ts"

/** Delay in milliseconds, in which counts gather for one statement. */
const delayMs = 1_000

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* CanaryStore
    const active = yield* ActiveCanaries
    const ends = yield* CanaryEnds
    const { nodeId } = yield* NodeLease

    const judge = Effect.fnUntraced(function* (observed: ObservedCanary) {
      const { canary } = observed
      const now = yield* currentTime
      const isDue = now >= windowEnd(canary) && !observed.isDecided
      if (!observed.isDirty && !isDue) return
      observed.isDirty = false
      observed.isDecided = now >= windowEnd(canary)
      const { own } = observed
      const { counts, isCurrent } = yield* Effect.tapError(store.report(canary, nodeId, own), () =>
        Effect.sync(() => {
          observed.isDirty = true
          observed.isDecided = false
        })
      )
      observed.learn(counts, own)
      const decision = isCurrent ? decide(canary, counts, now) : replaced
      if (decision === null) return
      // Another node may have ended it: then only this node's copy is outdated.
      yield* Effect.catchTag(ends.end(canary, decision), "NotFound", () => active.changed)
    })

    const pass = Effect.gen(function* () {
      yield* active.someActive
      yield* Effect.race(Effect.sleep(delayMs), active.someBroken)
      yield* Effect.forEach(active.all(), judge, { discard: true })
    })
    yield* forkSupervised({ name: "The judge of canaries" }, pass)
  })
)

const replaced = { state: "replaced", reason: "Another build was deployed" } as const
