/** Operations on many runs, searches among them, and rules that watch them. */
import type { Attack, Sent } from "../Attack.ts"
import { hookPath, type Shape } from "../Shape.ts"
import { asWebhook } from "./programs.ts"

const tenant = { attacker: "tenant", room: "operations" } as const

const concurrent = 20

/** Sends a request of the preparation `count` times. */
const repeat = async (attack: Attack, count: number, sent: Sent): Promise<string> => {
  for (let first = 0; first < count; first += concurrent) {
    await Promise.all(Array.from({ length: concurrent }, () => attack.send(sent)))
  }
  return ""
}

/** Stores runs of the webhook `x`. */
const fill = (attack: Attack, runs: number): Promise<string> =>
  repeat(attack, runs, { method: "POST", path: hookPath("x") })

const publish = (attack: Attack, events: number): Promise<string> =>
  repeat(attack, events, { path: "/v1/events", as: 1, body: { event_type: "attack:handled", event_data: 1 } })

const failing = asWebhook('throw new Error("the order " + Math.random() + " has no customer ".repeat(20))')

const handler = (body: string, options = ""): string => `
export const on = () => { ${body} }
on.meta = { event: "attack:handled"${options} }
`

export const operationShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "error-searches",
    sends: "16 clients search 2,000 failed runs for texts that no error has",
    sees: [200, 429, "pending"],
    source: failing,
    prepare: (attack) => fill(attack, 2_000),
    attack: (attack) =>
      attack.clients(16, (client, turn) =>
        attack.send({ path: `/v1/runs?limit=100&status=failed&error=custome${client}${turn}`, as: 1 })
      )
  },
  {
    ...tenant,
    name: "series",
    sends: "32 clients read the counts of runs per minute for 30 days",
    sees: [200, 400, 429, "pending"],
    source: failing,
    prepare: (attack) => fill(attack, 100),
    attack: (attack) => {
      const from = new Date(Date.now() - 30 * 24 * 3_600_000).toISOString()
      return attack.clients(32, () => attack.send({ path: `/v1/runs/series?from=${from}&step=1m`, as: 1 }))
    }
  },
  {
    ...tenant,
    name: "bulk-replays",
    sends: "4 clients create operations that replay all 2,000 runs",
    sees: [200, 201, 202, 400, 409, 429, "pending"],
    source: handler("return 1"),
    prepare: (attack) => publish(attack, 2_000),
    attack: (attack) =>
      attack.clients(4, () =>
        attack.send({
          path: "/v1/operations",
          as: 1,
          body: { kind: "replay", filter: { status: "succeeded", type: "event" } }
        })
      )
  },
  {
    ...tenant,
    name: "redrives",
    sends: "8 clients redrive 1,000 dead letters, which fail again",
    sees: [200, 201, 202, 400, 409, 429, "pending"],
    source: handler('throw new Error("always")', ", retry: { attempts: 1 }"),
    prepare: (attack) => publish(attack, 1_000),
    attack: (attack) =>
      attack.clients(8, () =>
        attack.send({ path: "/v1/dead-letters/redrive", as: 1, body: { event_type: "attack:handled" } })
      )
  },
  {
    ...tenant,
    name: "alert-rules",
    sends: "8 clients create and test alert rules with webhooks",
    sees: [200, 201, 202, 400, 404, 409, 429, "pending"],
    source: failing,
    needsUpstream: true,
    attack: (attack) =>
      attack.clients(8, async (client, turn) => {
        const { text } = await attack.send({
          path: "/v1/alerts",
          as: 1,
          body: {
            name: `a-${client}-${turn}`,
            condition: { type: "silence", minutes: 2 },
            actions: [{ type: "webhook", url: `http://127.0.0.1:${attack.plan.upstreamPort}/slow` }, { type: "event" }]
          }
        })
        const id = /"alert_id":"([^"]+)"/.exec(text)?.[1]
        if (id !== undefined) await attack.send({ method: "POST", path: `/v1/alerts/${id}/test`, as: 1 })
      })
  }
]
