/** Subscribers that never read, or reconnect without end. */
import type { Attack } from "../Attack.ts"
import { hookPath, type Shape } from "../Shape.ts"
import { head, openMany } from "./Connections.ts"
import { asWebhook } from "./programs.ts"

const tenant = { attacker: "tenant", room: "streams" } as const

/** A webhook that emits 500 messages of 10 KB to its stream, and an event for every call. */
const noisy = asWebhook(`
  for (let n = 0; n < 500; n++) svc.stream.emit("noise", "x".repeat(10000)).catch(() => {})
  await svc.events.publish({ type: "attack:noise", data: "x".repeat(10000) })
  return 1
`)

const subscribeHead = (attack: Attack, headers: ReadonlyArray<string> = []): string =>
  head(attack, "GET /v1/env/subscribe", [`authorization: Bearer ${attack.key()}`, ...headers])

const makeNoise = (attack: Attack): Promise<void> =>
  attack.clients(8, () => attack.send({ method: "POST", path: hookPath("x") }))

export const streamShapes: ReadonlyArray<Shape> = [
  {
    ...tenant,
    name: "unread-subscriptions",
    sends: "500 subscribers of the environment that never read, while 8 clients cause messages",
    sees: [200, 500, "open", "closed", "pending"],
    source: noisy,
    attack: async (attack) => {
      await openMany(attack, 500, () => attack.open(subscribeHead(attack), { reads: false }))
      await makeNoise(attack)
    }
  },
  {
    ...tenant,
    name: "many-subscriptions",
    sends: "500 subscribers of the environment that read, while 8 clients cause messages",
    sees: [200, 429, 500, 503, "open", "closed", "pending"],
    source: noisy,
    attack: async (attack) => {
      await openMany(attack, 500, () => attack.open(subscribeHead(attack)))
      await makeNoise(attack)
    }
  },
  {
    ...tenant,
    name: "reconnect-storm",
    sends: "64 clients subscribe with the id of an hour-old message and disconnect after 50 ms",
    sees: [200, 429, 503, "open", "closed"],
    source: noisy,
    prepare: async (attack) => {
      for (let n = 0; n < 100; n++) await attack.send({ method: "POST", path: hookPath("x") })
      const { env_id } = await attack.require({ path: "/v1/env" })
      return String(env_id)
    },
    attack: (attack, envId) => {
      const id = `${envId}-1-0-t${Date.now() - 3_600_000}`
      return attack.clients(64, async () => {
        const socket = attack.open(subscribeHead(attack, [`last-event-id: ${id}`]))
        await attack.pause(50)
        socket.destroy()
        await attack.closed(socket)
      })
    }
  },
  {
    ...tenant,
    name: "watched-events",
    sends: "64 clients publish an event, follow its stream and disconnect after 50 ms",
    sees: [200, 429, 503, "open", "closed"],
    attack: (attack) => {
      const body = JSON.stringify({ event_type: "attack:plain", event_data: { n: 1 } })
      const request = head(attack, "POST /v1/streams/subscribe-with-event", [
        `authorization: Bearer ${attack.key()}`,
        "content-type: application/json",
        `content-length: ${body.length}`
      ])
      return attack.clients(64, async () => {
        const socket = attack.open(request + body)
        await attack.pause(50)
        socket.destroy()
        await attack.closed(socket)
      })
    }
  }
]
