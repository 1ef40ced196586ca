/** Requests that read or write much of the store. */
import type { Attack } from "../Attack.ts"
import { hookPath, type Shape } from "../Shape.ts"
import { asWebhook } from "./programs.ts"

const tenant = { attacker: "tenant", room: "storage" } as const

/** Stores runs with results of `bytes` each. */
const fill = async (attack: Attack, runs: number): Promise<string> => {
  for (let first = 0; first < runs; first += 10) {
    await Promise.all(Array.from({ length: 10 }, () => attack.require({ method: "POST", path: hookPath("x") })))
  }
  return ""
}

const resultOf = (bytes: number): string => asWebhook(`console.log("x"); return "x".repeat(${bytes})`)

export const storageShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "large-run-lists",
    sends: "16 clients list 100 runs with results of 300 KB",
    sees: [200, 400, 429, 503, "pending"],
    source: resultOf(300_000),
    prepare: (attack) => fill(attack, 100),
    attack: (attack) => attack.clients(16, () => attack.send({ path: "/v1/runs?limit=100", as: 1 }))
  },
  {
    ...tenant,
    name: "deep-pages",
    sends: "32 clients list runs at offsets of 3,000 and far beyond the end",
    sees: [200, 400, 429, "pending"],
    source: resultOf(10),
    prepare: (attack) => fill(attack, 3_000),
    attack: (attack) =>
      attack.clients(32, (_, turn) =>
        attack.send({ path: `/v1/runs?limit=100&offset=${turn % 2 === 0 ? 2_900 : 9_000_000}`, as: 1 })
      )
  },
  {
    ...tenant,
    name: "statistics",
    sends: "32 clients read statistics of runs, usage and the audit log",
    sees: [200, 429, "pending"],
    source: resultOf(10),
    prepare: (attack) => fill(attack, 3_000),
    attack: (attack) =>
      attack.clients(32, (_, turn) =>
        attack.send({ path: ["/v1/runs/stats", "/v1/org/usage", "/v1/audit"][turn % 3] ?? "/v1/audit", as: 1 })
      )
  },
  {
    ...tenant,
    name: "replays",
    sends: "16 clients replay a run with a result of 300 KB",
    sees: [200, 201, 202, 400, 404, 429, "pending"],
    source: `${resultOf(300_000)}
export const on = () => "x".repeat(300000)
on.meta = { event: "attack:replayed" }`,
    prepare: async (attack) => {
      const { event_id } = await attack.require({
        path: "/v1/events",
        body: { event_type: "attack:replayed", event_data: 1 }
      })
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const { text } = await attack.send({ path: `/v1/events/${event_id}/runs`, as: 1 })
      return /"run_id":"([^"]+)"/.exec(text)?.[1] ?? ""
    },
    attack: (attack, run) =>
      attack.clients(16, () => attack.send({ method: "POST", path: `/v1/runs/${run}/replay`, as: 1 }))
  },
  {
    ...tenant,
    name: "cancellations",
    sends: "16 clients cancel all runs while 200 clients start new ones",
    sees: [200, 201, 202, 429, 500, "pending"],
    source: `${asWebhook("await new Promise((done) => setTimeout(done, 1900))")}`,
    attack: async (attack) => {
      await Promise.all([
        attack.clients(16, () => attack.send({ method: "POST", path: "/v1/runs/cancel", as: 1 })),
        attack.clients(200, () => attack.send({ method: "POST", path: hookPath("x") }))
      ])
    }
  },
  {
    ...tenant,
    name: "project-churn",
    sends: "8 clients create projects and delete them",
    sees: [201, 204, 404, 429, "pending"],
    attack: (attack) =>
      attack.clients(8, async (client, turn) => {
        const name = `p-${client}-${turn}`
        await attack.send({ path: "/v1/projects", as: 1, body: { name } })
        await attack.send({ method: "DELETE", path: `/v1/projects/${name}`, as: 1 })
      })
  }
]
