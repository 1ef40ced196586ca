/** The contract of feeds on a way within this process, and ways with one fault each, in virtual time. */
import { assert, describe, it } from "@effect/vitest"
import { feedChecks } from "@weft/contract"
import { Effect, Exit } from "effect"
import { timeOf } from "../src/LifecycleNodes.ts"
import { feedLine, type LineFaults } from "./FeedLine.ts"

const { during } = timeOf(Effect.promise(() => new Promise((resolve) => setImmediate(resolve))))

describe("Feed contract: in memory", () => {
  for (const { name, body } of feedChecks) it.effect(name, () => during(Effect.provide(body, feedLine())))
})

const faults: Readonly<Record<string, LineFaults>> = {
  "loses what comes first": { sent: (texts) => texts.slice(1) },
  "turns round what is sent together": { sent: (texts) => texts.toReversed() },
  "cuts large texts short": { sent: (texts) => texts.map((text) => text.slice(0, 4000)) },
  "mixes systems": { isShared: true },
  "never tells that it was away": { tellsAway: false }
}

describe("the contract of feeds notices a way that", () => {
  for (const [fault, how] of Object.entries(faults)) {
    it.effect(fault, () =>
      Effect.gen(function* () {
        const exits = yield* during(
          Effect.forEach(feedChecks, ({ body }) => Effect.exit(Effect.provide(body, feedLine(how))), {
            concurrency: "unbounded"
          })
        )
        assert.isAbove(exits.filter(Exit.isFailure).length, 0)
      })
    )
  }
})
