/** Durable functions with many steps, large results and sleeps that end together. */
import type { Attack } from "../Attack.ts"
import type { Shape } from "../Shape.ts"

const tenant = { attacker: "tenant", room: "durable functions" } as const

const durable = (body: string): string => `
export const on = async (event, svc) => { ${body} }
on.meta = { event: "attack:started", durable: true }
`

const clients = 32

/** Starts durable runs, then waits for the end of the attack. */
const startRuns =
  (runs: number, data: () => unknown = () => null) =>
  async (attack: Attack): Promise<void> => {
    const body = { event_type: "attack:started", event_data: data() }
    let started = 0
    await attack.clients(clients, () =>
      started++ < runs ? attack.send({ path: "/v1/events", as: 1, body }) : attack.wait()
    )
  }

export const durableShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "many-steps",
    sends: "100 durable runs of 1,000 steps each",
    sees: [201, 429, "pending"],
    source: durable('for (let n = 0; n < 1000; n++) await svc.step("s" + n, () => n)'),
    attack: startRuns(100)
  },
  {
    ...tenant,
    name: "large-steps",
    sends: "100 durable runs of 100 steps with results of 200 KB, which sleep after each step",
    sees: [201, 429, "pending"],
    source: durable(
      'for (let n = 0; n < 100; n++) { await svc.step("s" + n, () => "x".repeat(200000)); await svc.sleep("p" + n, 1000) }'
    ),
    attack: startRuns(100)
  },
  {
    ...tenant,
    name: "parallel-steps",
    sends: "20 durable runs that begin 500 steps at once",
    sees: [201, 429, "pending"],
    source: durable(
      'await Promise.all(Array.from({ length: 500 }, (_, n) => svc.step("s" + n, () => "x".repeat(1000))))'
    ),
    attack: startRuns(20)
  },
  {
    ...tenant,
    name: "same-wake",
    sends: "2,000 durable runs that sleep until the same instant during the attack",
    sees: [201, 429, "pending"],
    source: durable('await svc.sleepUntil("s", event.event_data); return 1'),
    attack: (attack) => startRuns(2_000, () => new Date(Date.now() + attack.remainingMs * 0.75).toISOString())(attack)
  },
  {
    ...tenant,
    name: "waits-for-events",
    sends: "1,000 durable runs that wait for an event which the same client publishes without end",
    sees: [201, 429, "pending"],
    source: durable('await svc.waitForEvent("w", { event: "attack:awaited", match: { n: 1 }, timeout: "1m" })'),
    attack: async (attack) => {
      const publish = { path: "/v1/events", as: 1, body: { event_type: "attack:awaited", event_data: { n: 2 } } }
      await Promise.all([startRuns(1_000)(attack), attack.clients(8, () => attack.send(publish))])
    }
  },
  {
    attacker: "stranger",
    room: "durable functions",
    name: "guessed-tokens",
    sends: "32 clients guess the secret URLs of tokens",
    sees: [404, 429, "pending"],
    attack: (attack) =>
      attack.clients(32, (client, turn) => attack.send({ path: `/tokens/${client}-${turn}-${"x".repeat(30)}` }))
  }
]
