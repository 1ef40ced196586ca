/** The process of the attacker: prepares a shape, attacks for a time, and reports the answers. */
import { Schema } from "effect"
import { Attack } from "./Attack.ts"
import { AttackCommand, type AttackReply } from "./Messages.ts"
import type { Shape } from "./Shape.ts"
import { shapes } from "./Shapes.ts"
import { listenUpstream } from "./Upstream.ts"

const reply = (message: AttackReply): void => void process.send?.(message)

let prepared: { readonly shape: Shape; readonly attack: Attack; readonly result: string } | null = null

const handle = async (message: unknown): Promise<void> => {
  const command = Schema.decodeUnknownSync(AttackCommand)(message)
  if (command.do === "prepare") {
    const shape = shapes.get(command.plan.shape)
    if (shape === undefined) throw new Error(`Unknown shape ${JSON.stringify(command.plan.shape)}`)
    const { upstreamPort } = command.plan
    if (upstreamPort !== null) await listenUpstream(upstreamPort)
    const attack = new Attack(command.plan)
    prepared = { shape, attack, result: (await shape.prepare?.(attack)) ?? "" }
    return reply({ did: "prepare" })
  }
  if (prepared === null) throw new Error("The attack was not prepared")
  const { shape, attack, result } = prepared
  attack.begin(command.seconds)
  await shape.attack(attack, result)
  await attack.wait()
  // Closed connections are counted in the next turns of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 200))
  reply({ did: "attack", answers: attack.answers.counts })
}

process.on("message", (message) => {
  handle(message).catch((error: unknown) => reply({ did: "fail", reason: String(error) }))
})
process.on("disconnect", () => process.exit(0))
