/** Events in bursts, chains, groups and retries. */
import type { Attack } from "../Attack.ts"
import type { Shape } from "../Shape.ts"
import { hookPath } from "../Shape.ts"
import { asWebhook } from "./programs.ts"

const room = "events"

/** Events of a burst. */
const burst = 10_000

const handler = (event: string, body: string, options = ""): string => `
export const on = async (event, svc) => { ${body} }
on.meta = { event: "${event}"${options === "" ? "" : `, ${options}`} }
`

/** Publishes events from 32 clients, at most `burst`. */
const publish = async (
  attack: Attack,
  event: (n: number) => {
    readonly type: string
    readonly data: unknown
    readonly delay?: string
    readonly key?: string
  },
  maximum = burst
): Promise<void> => {
  let count = 0
  await attack.clients(32, async () => {
    if (count >= maximum) return attack.wait()
    const { type, data, delay, key } = event(count++)
    await attack.send({
      path: "/v1/events",
      as: 1,
      headers: key === undefined ? {} : { "idempotency-key": key },
      body: { event_type: type, event_data: data, ...(delay === undefined ? {} : { delay }) }
    })
  })
}

const tenant = { attacker: "tenant", room, sees: [201, 429, "pending"] } as const

export const eventShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "event-burst",
    sends: `32 clients publish ${burst} events that a function handles`,
    source: handler("attack:burst", "return event.event_data"),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:burst", data: n }))
  },
  {
    ...tenant,
    name: "slow-handlers",
    sends: `32 clients publish ${burst} events whose handler computes for 100 ms`,
    source: handler("attack:slow", "const until = Date.now() + 100; while (Date.now() < until); return 1"),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:slow", data: n }))
  },
  {
    ...tenant,
    name: "waiting-handlers",
    sends: `32 clients publish ${burst} events whose handler waits for 60 s`,
    source: handler("attack:wait", "await new Promise((done) => setTimeout(done, 60000))"),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:wait", data: n }))
  },
  {
    ...tenant,
    name: "idempotency-flood",
    sends: `32 clients publish ${burst} events, each with a new idempotency key`,
    attack: (attack) => publish(attack, (n) => ({ type: "attack:plain", data: { n }, key: `key-${n}` }))
  },
  {
    ...tenant,
    name: "idempotent-handlers",
    sends: `32 clients publish ${burst} events for a handler with idempotency of its own`,
    source: handler("attack:once", "return 1", 'idempotency: "key"'),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:once", data: { key: `k${n % 100}` } }))
  },
  {
    ...tenant,
    name: "delayed-events",
    sends: `32 clients publish ${burst} events that are all due in the same second`,
    source: handler("attack:delayed", "return 1"),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:delayed", data: n, delay: "5s" }))
  },
  {
    ...tenant,
    name: "failing-retries",
    sends: "32 clients publish 1,000 events whose handler fails, with 100 attempts without a delay",
    source: handler(
      "attack:fail",
      'throw new Error("always")',
      'retry: { attempts: 100, delay: "1ms", backoff: 1, jitter: false }'
    ),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:fail", data: n }), 1_000)
  },
  {
    ...tenant,
    name: "many-groups",
    sends: `32 clients publish ${burst} events for a handler with a limit of 1, each in a group of its own`,
    source: handler("attack:group", "return 1", 'concurrency: { limit: 1, key: "key" }'),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:group", data: { key: `group-${n}` } }))
  },
  {
    ...tenant,
    name: "one-group",
    sends: `32 clients publish ${burst} events of one group with a limit of 1`,
    source: handler(
      "attack:group",
      "await new Promise((done) => setTimeout(done, 20))",
      'concurrency: { limit: 1, key: "key" }'
    ),
    attack: (attack) => publish(attack, () => ({ type: "attack:group", data: { key: "same" } }))
  },
  {
    ...tenant,
    name: "large-events",
    sends: "32 clients publish 200 events of 3 MB, which a function handles",
    source: handler("attack:large", "return 1"),
    attack: (attack) => publish(attack, () => ({ type: "attack:large", data: "x".repeat(3e6) }), 200)
  },
  {
    ...tenant,
    name: "fan-out",
    sends: "32 clients publish 200 events that 500 functions handle",
    source: Array.from(
      { length: 500 },
      (_, n) => `export const on${n} = () => ${n}\non${n}.meta = { event: "attack:fan" }\n`
    ).join(""),
    attack: (attack) => publish(attack, (n) => ({ type: "attack:fan", data: n }), 200)
  },
  {
    ...tenant,
    name: "self-publishing",
    sees: [200, 201, 500, "pending"],
    sends: "a handler publishes its own event twice, so that the events double until the end of the attack",
    source: handler(
      "attack:double",
      "if (Date.now() > event.event_data.until) return; for (let n = 0; n < 2; n++) await svc.events.publish({ type: 'attack:double', data: event.event_data })"
    ),
    attack: async (attack) => {
      // The chain stops before the end, so that its backlog is handled during the measurement.
      const until = Date.now() + attack.remainingMs / 2
      await publish(attack, () => ({ type: "attack:double", data: { until } }), 1)
    }
  },
  {
    ...tenant,
    name: "nested-event-json",
    sees: [400, 429, "pending"],
    sends: "32 clients publish events of 1 million nested arrays",
    attack: (attack) => {
      const data = "[".repeat(1_000_000) + "]".repeat(1_000_000)
      const body = `{"event_type":"attack:plain","event_data":${data}}`
      const headers = { "content-type": "application/json" }
      return attack.clients(32, () => attack.send({ path: "/v1/events", as: 1, headers, body }))
    }
  },
  {
    ...tenant,
    name: "invalid-json",
    sees: [400, 429, "pending"],
    sends: "32 clients publish 4 MB of JSON whose last character is invalid",
    attack: (attack) => {
      const body = `[${"1,".repeat(2_000_000)}x`
      const headers = { "content-type": "application/json" }
      return attack.clients(32, () => attack.send({ path: "/v1/events", as: 1, headers, body }))
    }
  },
  {
    ...tenant,
    name: "long-waits",
    sees: [201, 202, 429, "closed", "pending"],
    sends: "500 clients call a function and wait up to 300 s for its result",
    source: `export const slow = () => new Promise((done) => setTimeout(done, 60000))`,
    attack: (attack) =>
      attack.clients(500, () => attack.send({ path: "/v1/calls", as: 1, body: { fn: "main/slow", wait: 300 } }))
  },
  {
    ...tenant,
    name: "webhook-publishers",
    sees: [200, 500, "pending"],
    sends: "16 clients call a webhook that publishes 100 events, each of which a function handles",
    source:
      handler("attack:relayed", "return 1") +
      asWebhook(
        "for (let n = 0; n < 100; n++) await svc.events.publish({ type: 'attack:relayed', data: n }); return 1"
      ),
    attack: (attack) => attack.clients(16, () => attack.send({ method: "POST", path: hookPath("x") }))
  }
]
