/** Tool calls (MCP) with schemas that are costly, huge or invalid. */
import type { Shape } from "../Shape.ts"

const tenant = { attacker: "tenant", room: "MCP" } as const
const path = "/mcp/default/attacker-1/attack"

const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" }

const tool = (name: string, input: string): string => `
export const ${name} = () => 1
${name}.meta = { tool: { service: "attack", input: ${input} } }
`

const message = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params })

const callOf = (args: object) => message("tools/call", { name: "t", arguments: args })

export const toolShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "costly-schemas",
    sends: "16 clients call a tool whose schema has a catastrophic pattern",
    sees: [200, 400, 429, 503, "pending"],
    source: tool("t", `{ type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } }`),
    attack: (attack) =>
      attack.clients(16, () => attack.send({ path, as: 1, headers, body: callOf({ text: `${"a".repeat(40)}b` }) }))
  },
  {
    ...tenant,
    name: "recursive-schemas",
    sends: "16 clients call a tool with a recursive schema and 1,000 levels of arguments",
    sees: [200, 400, 429, 503, "pending"],
    source: tool("t", `{ type: "object", properties: { o: { $ref: "#" } }, anyOf: [{ required: [] }, { $ref: "#" }] }`),
    attack: (attack) => {
      let args: object = {}
      for (let level = 0; level < 400; level++) args = { o: args }
      return attack.clients(16, () => attack.send({ path, as: 1, headers, body: callOf(args) }))
    }
  },
  {
    ...tenant,
    name: "large-tool-arguments",
    sends: "16 clients call a tool with 3 MB of arguments in an array of unique items",
    sees: [200, 400, 429, 503, "pending"],
    source: tool("t", `{ type: "object", properties: { a: { type: "array", uniqueItems: true } } }`),
    attack: (attack) => {
      const body = callOf({ a: Array.from({ length: 100_000 }, (_, n) => ({ n })) })
      return attack.clients(16, () => attack.send({ path, as: 1, headers, body }))
    }
  },
  {
    ...tenant,
    name: "tool-lists",
    sends: "16 clients list 500 tools with schemas of 1 KB",
    sees: [200, 429, "pending"],
    source: Array.from({ length: 500 }, (_, n) =>
      tool(`t${n}`, `{ type: "object", description: "${"x".repeat(1_000)}" }`)
    ).join(""),
    attack: (attack) => attack.clients(16, () => attack.send({ path, as: 1, headers, body: message("tools/list", {}) }))
  },
  {
    ...tenant,
    attacker: "stranger",
    name: "guessed-tools",
    sends: "32 clients call tools without a credential",
    sees: [401, "pending"],
    attack: (attack) => attack.clients(32, () => attack.send({ path, headers, body: callOf({}) }))
  }
]
