import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import {
  BuildId,
  type Claim,
  type Delivery,
  DeliveryId,
  type Event,
  EventId,
  NodeId,
  noRetry,
  ProjectId,
  RunId,
  StreamId,
  startRun,
  Timestamp,
  toJsonText
} from "@weft/core/adapter"
import { Effect } from "effect"
import { countClaimSlots, countSlots, Slots } from "../../../src/runtime/dispatch/Slots.ts"

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

describe("Slots", () => {
  it.effect("reserve nothing before the first claim has ended", () =>
    Effect.provide(
      Slots.use((slots) => Effect.sync(() => assert.strictEqual(slots.reserve(env, 1, 1), 0))),
      Slots.layer({ total: 4, perEnv: 4 })
    )
  )

  check("are limited per environment", (slots) => {
    assert.strictEqual(slots.reserve(env, 50, 1), 40)
    assert.deepStrictEqual(slots.full(), [env])
    assert.strictEqual(slots.reserve(other, 50, 1), 40)
    assert.strictEqual(slots.free(), 20)
  })

  check("are taken per 64 KiB of a large event", (slots) => {
    const sizes = [0, 1, 65_536, 65_537, 4 * 2 ** 20].map((length) => ({ event_data: toJsonText("x".repeat(length)) }))
    assert.deepStrictEqual(sizes.map(countSlots), [1, 1, 2, 2, 65])
    const claimed = claimOf(1)
    const data = toJsonText("x".repeat(40_000))
    const batch = [1, 2, 3].map(() => ({ ...claimed.event, event_data: data }))
    assert.deepStrictEqual([claimed, { ...claimed, events: batch }].map(countClaimSlots), [1, 2])
    assert.strictEqual(slots.reserve(env, 3, 15), 2)
    assert.strictEqual(slots.free(), 70)
    assert.strictEqual(slots.reserve(env, 3, 15), 0)
    assert.strictEqual(slots.reserve(env, 30, 1), 10)
    slots.release(env, 40)
    slots.hold(env, 65)
    assert.deepStrictEqual([slots.full(), slots.free()], [[env], 35])
    slots.release(env, 65)
    assert.deepStrictEqual([slots.full(), slots.free()], [[], 100])
  })

  check("are not reserved behind pending deliveries of the same environment", (slots) => {
    slots.reserve(env, 40, 1)
    assert.strictEqual(slots.addPending(env), "no")
    assert.strictEqual(slots.release(env, 1), "soon")
    assert.strictEqual(slots.reserve(env, 1, 1), 0)
    assert.strictEqual(slots.reserve(other, 1, 1), 1)
    assert.strictEqual(slots.release(env, 35), "now")
  })

  check("can be reserved again after a claim", (slots) => {
    slots.reserve(env, 40, 1)
    slots.addPending(env)
    slots.release(env, 40)
    slots.beginClaim()
    assert.strictEqual(slots.reserve(env, 1, 1), 1)
    slots.endClaim({ all: false, envs: [] })
    assert.strictEqual(slots.reserve(env, 1, 1), 1)
  })

  check("remember deliveries that become pending during a claim", (slots) => {
    slots.reserve(env, 40, 1)
    slots.beginClaim()
    assert.strictEqual(slots.addPending(env), "no")
    slots.endClaim({ all: false, envs: [] })
    assert.strictEqual(slots.release(env, 40), "now")
    assert.strictEqual(slots.reserve(env, 1, 1), 0)
  })

  check("start claimed deliveries at once, or queue them until there is a starter", (slots) => {
    const begun: Array<string> = []
    const begin = ({ run }: Claim) => void begun.push(run.run_id)
    const [first, second, third, fourth] = [1, 2, 3, 4].map(claimOf)
    if (first === undefined || second === undefined || third === undefined || fourth === undefined) return assert.fail()
    slots.begin(first)
    slots.begin(second)
    assert.deepStrictEqual(begun, [])
    slots.startWith(begin)
    slots.begin(third)
    assert.deepStrictEqual(
      begun,
      [first, second, third].map(({ run }) => run.run_id)
    )

    slots.startWith(null)
    slots.begin(fourth)
    assert.lengthOf(begun, 3)
    slots.startWith(begin)
    assert.deepStrictEqual(begun.slice(3), [fourth.run.run_id])
  })
})

const claimOf = (n: number): Claim => {
  const id = `01890000-0000-7000-8000-00000000001${n}`
  const instant = Timestamp.make(n)
  const of = { env_id: env, event_id: EventId.make(id), stream_id: StreamId.make(id) }
  const event: Event = {
    ...of,
    event_type: "job",
    event_data: toJsonText(n),
    event_time: instant,
    created_at: instant
  }
  const delivery: Delivery = {
    ...of,
    delivery_id: DeliveryId.make(id),
    project_id: ProjectId.make(id),
    project_name: "shop",
    build_id: BuildId.make(id),
    ns: "main",
    var: "job",
    run_type: "event",
    retry: noRetry,
    timeout_ms: 1000,
    group: null,
    attempt: 1,
    due_at: instant,
    caused_by: null,
    depth: 0,
    first_run_id: null,
    durable: false,
    continues: null
  }
  return { delivery, event, run: startRun(delivery, RunId.make(id), NodeId.make(id), instant) }
}
