/** Strangers who call webhooks with bodies at the limit. */
import type { Attack } from "../Attack.ts"
import { echoPath, type Shape } from "../Shape.ts"

const room = "webhooks"
const MiB = 1024 * 1024

/** Limit of a body with the default settings. */
const bodyBytesMax = 4 * MiB

const bodies = (name: string, sends: string, body: string, sees: Shape["sees"], clients = 32): Shape => ({
  name,
  attacker: "stranger",
  room,
  sends: `${clients} clients repeat ${sends}`,
  sees: [...sees, "pending"],
  attack: (attack: Attack) =>
    attack.clients(clients, () =>
      attack.send({ path: echoPath, body, headers: { "content-type": "application/json" } })
    )
})

export const webhookShapes: ReadonlyArray<Shape> = [
  bodies("webhook-bodies", "a body of 4 MiB to a webhook", `"${"x".repeat(bodyBytesMax - 2)}"`, [200, 429, 500, 503]),
  bodies("too-large-bodies", "a body of 8 MiB, above the limit, to a webhook", "x".repeat(2 * bodyBytesMax), [
    400,
    "closed"
  ]),
  bodies(
    "nested-webhook-json",
    "2 million nested arrays as JSON to a webhook",
    "[".repeat(2_000_000) + "]".repeat(2_000_000),
    [400, 429, 503]
  ),
  bodies(
    "many-objects-webhook-json",
    "an array of 1 million objects as JSON to a webhook",
    `[${Array.from({ length: 1_000_000 }, () => "{}").join(",")}]`,
    [400, 429, 503]
  ),
  bodies(
    "half-nested-webhook-json",
    "4,000 arrays of 500 levels as JSON to a webhook",
    `[${Array.from({ length: 4_000 }, () => "[".repeat(499) + "]".repeat(499)).join(",")}]`,
    [400, 429, 503]
  ),
  bodies(
    "wide-webhook-json",
    "an object of 400,000 properties as JSON to a webhook",
    JSON.stringify(Object.fromEntries(Array.from({ length: 300_000 }, (_, n) => [`k${n}`, 0]))),
    [200, 429, 500, 503]
  ),
  bodies("small-webhooks", "a small webhook of the attacker", "{}", [200, 500, 503], 64),
  {
    name: "form-of-names",
    attacker: "stranger",
    room,
    sends: "4 clients repeat a form of 2 million names without values to a webhook",
    sees: [200, 500, 503, "pending"],
    attack: (attack) => {
      const body = "a&".repeat(2_000_000)
      const headers = { "content-type": "application/x-www-form-urlencoded" }
      return attack.clients(4, () => attack.send({ path: echoPath, body, headers }))
    }
  },
  {
    name: "large-form-webhook",
    attacker: "stranger",
    room,
    sends: "32 clients repeat a form of 500,000 fields to a webhook",
    sees: [200, 500, 503, "pending"],
    attack: (attack) => {
      const body = "a=1&".repeat(500_000)
      const headers = { "content-type": "application/x-www-form-urlencoded" }
      return attack.clients(32, () => attack.send({ path: echoPath, body, headers }))
    }
  }
]
