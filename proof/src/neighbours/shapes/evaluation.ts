/** Source text that was not deployed. */
import type { Attack } from "../Attack.ts"
import type { Shape } from "../Shape.ts"

const tenant = { attacker: "tenant", room: "evaluation" } as const

const sees: Shape["sees"] = [200, 201, 202, 400, 403, 404, 409, 410, 429, 500, 503, "pending"]

const variables = Array.from({ length: 2_500 }, (_, n) => `const v${n} = ${n};`).join(" ")

const evaluate =
  (clients: number, source: (client: number, turn: number) => string): Shape["attack"] =>
  (attack) =>
    attack.clients(clients, (client, turn) =>
      attack.send({ path: "/v1/eval", as: 1, body: { source: source(client, turn) } })
    )

/** Returns the id of a new session, or "" without one. */
const openSession = async (attack: Attack): Promise<string> => {
  const { text } = await attack.send({ path: "/v1/repl", as: 1, body: {} })
  return /"repl_id":"([^"]+)"/.exec(text)?.[1] ?? ""
}

export const evaluationShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "evaluated-sources",
    sends: "16 clients evaluate different sources of 50 KB",
    sees,
    attack: evaluate(16, (client, turn) => `${variables} return "${client}-${turn}"`)
  },
  {
    ...tenant,
    name: "evaluated-loops",
    sends: "8 clients evaluate endless loops",
    sees,
    attack: evaluate(8, (client, turn) => `for (let n = ${client * 1_000_000 + turn};;) n++`)
  },
  {
    ...tenant,
    name: "evaluated-types",
    sends: "8 clients evaluate TypeScript with 500 levels of parentheses",
    sees,
    attack: evaluate(8, (client, turn) => `${"(".repeat(500)}${client}${turn} as unknown${")".repeat(500)}`)
  },
  {
    ...tenant,
    name: "sessions-of-arrays",
    sends: "32 clients open sessions that keep arrays of 40 MB",
    sees,
    attack: (attack) =>
      attack.clients(32, async () => {
        const id = await openSession(attack)
        if (id === "") return
        await attack.send({
          path: `/v1/repl/${id}/input`,
          as: 1,
          body: { source: "const kept = Array.from({ length: 5e6 }, (_, n) => n)" }
        })
      })
  }
]
