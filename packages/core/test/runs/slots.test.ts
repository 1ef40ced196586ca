import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Effect } from "effect"
import { Slots } from "../../src/runs/Slots.ts"

const env = EnvId.make("01890000-0000-7000-8000-000000000001")
const other = EnvId.make("01890000-0000-7000-8000-000000000002")

const check = (claim: string, body: (slots: Slots["Service"]) => void) =>
  it.effect(claim, () =>
    Effect.provide(
      Slots.use((slots) =>
        Effect.sync(() => {
          slots.beginClaim()
          slots.endClaim({ all: false, envs: [] })
          body(slots)
        })
      ),
      Slots.layer({ total: 100, perEnv: 40 })
    )
  )

describe("slots", () => {
  it.effect("nothing is born claimed before the first claim has looked", () =>
    Effect.provide(
      Slots.use((slots) => Effect.sync(() => assert.strictEqual(slots.reserve(env, 1), 0))),
      Slots.layer({ total: 4, perEnv: 4 })
    )
  )

  check("an environment gets its share and no more", (slots) => {
    assert.strictEqual(slots.reserve(env, 50), 40)
    assert.deepStrictEqual(slots.full(), [env])
    assert.strictEqual(slots.reserve(other, 50), 40)
    assert.strictEqual(slots.free(), 20)
  })

  check("what waits keeps new deliveries of its environment behind it, and no others", (slots) => {
    slots.reserve(env, 40)
    assert.strictEqual(slots.waits(env), "no")
    assert.strictEqual(slots.release(env, 1), "soon")
    assert.strictEqual(slots.reserve(env, 1), 0)
    assert.strictEqual(slots.reserve(other, 1), 1)
    assert.strictEqual(slots.release(env, 35), "now")
  })

  check("a claim lets a steady stream go past the store again", (slots) => {
    slots.reserve(env, 40)
    slots.waits(env)
    slots.release(env, 40)
    slots.beginClaim()
    assert.strictEqual(slots.reserve(env, 1), 1)
    slots.endClaim({ all: false, envs: [] })
    assert.strictEqual(slots.reserve(env, 1), 1)
  })

  check("what comes to wait while a claim looks is remembered after it", (slots) => {
    slots.reserve(env, 40)
    slots.beginClaim()
    assert.strictEqual(slots.waits(env), "no")
    slots.endClaim({ all: false, envs: [] })
    assert.strictEqual(slots.release(env, 40), "now")
    assert.strictEqual(slots.reserve(env, 1), 0)
  })
})
