/** Runners that the kernel kills, isolates that are churned, and runs that occupy slots. */
import { listTree } from "@weft/bench/instruments"
import { hookPath, type Shape } from "../Shape.ts"
import { asWebhook, programShapes } from "./programs.ts"

const environments = 200

const coldSource = `
const table = Array.from({ length: 10000 }, (_, n) => ({ n }))
${asWebhook("return table.length")}
`

export const sandboxShapes: ReadonlyArray<Shape> = [
  ...programShapes,
  {
    name: "killed-runners",
    attacker: "system",
    room: "sandbox",
    sends: "the kernel kills a runner every 2 s, as without memory",
    sees: ["closed"],
    attack: async (attack) => {
      for (let turn = 0; !attack.isOver; turn++) {
        const [, ...runners] = listTree(attack.plan.serverPid)
        const runner = runners[turn % runners.length]
        if (runner !== undefined) {
          process.kill(runner, "SIGKILL")
          attack.answers.add("closed")
        }
        await attack.pause(2_000)
      }
    }
  },
  {
    name: "cold-starts",
    attacker: "tenant",
    room: "sandbox",
    sends: `16 clients call functions of ${environments} environments in turn`,
    sees: [200, 500, 503, "pending"],
    environments,
    source: coldSource,
    prepare: async (attack) => {
      for (let environment = 2; environment <= environments; environment++) {
        await attack.deploy("attack", coldSource, environment)
      }
      return ""
    },
    attack: (attack) =>
      attack.clients(16, (client, turn) => {
        const environment = 1 + ((client * 13 + turn) % environments)
        return attack.send({ method: "POST", path: hookPath("x", environment) })
      })
  },
  {
    name: "waiting-runs",
    attacker: "tenant",
    room: "sandbox",
    sends: "1,500 clients call a function that waits for 30 s",
    sees: [500, 503, "closed", "pending"],
    source: asWebhook("await new Promise((done) => setTimeout(done, 30000))", "x", "timeout: 30000"),
    attack: (attack) => attack.clients(1_500, () => attack.send({ method: "POST", path: hookPath("x") }))
  },
  {
    name: "shared-heap",
    attacker: "tenant",
    room: "sandbox",
    sends: "32 clients call a function whose global variable keeps 1 MB of every call",
    sees: [200, 500, "pending"],
    source: `const kept = []\n${asWebhook("kept.push(new Array(1e5).fill(kept.length)); return kept.length")}`,
    attack: (attack) => attack.clients(32, () => attack.send({ method: "POST", path: hookPath("x") }))
  },
  {
    name: "many-programs",
    attacker: "tenant",
    room: "sandbox",
    sends: "8 environments each call an endless loop, a heap bomb and a regular expression, 3 clients each",
    sees: [200, 500, 503, "pending"],
    environments: 8,
    source: mixedSource(),
    prepare: async (attack) => {
      for (let environment = 2; environment <= 8; environment++)
        await attack.deploy("attack", mixedSource(), environment)
      return ""
    },
    attack: (attack) =>
      attack.clients(24, (client) =>
        attack.send({ method: "POST", path: hookPath(["a", "b", "c"][client % 3] ?? "a", 1 + (client % 8)) })
      )
  }
]

function mixedSource(): string {
  return [
    asWebhook("for (;;) {}", "a"),
    asWebhook("const a = []; for (;;) a.push({ x: [1, 2, 3] })", "b"),
    asWebhook("return /^(a+)+$/.test('a'.repeat(40) + 'b')", "c")
  ].join("")
}
