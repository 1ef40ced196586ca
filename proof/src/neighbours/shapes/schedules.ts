/** Schedules that are many, or created without end. */
import type { Shape } from "../Shape.ts"

const tick = `export const tick = () => 1\n`

/** Returns a build whose functions have `count` static schedules, all of every second. */
const everySecond = (count: number): string =>
  Array.from(
    { length: count },
    (_, n) => `export const tick${n} = () => ${n}\ntick${n}.meta = { schedule: "* * * * * *" }\n`
  ).join("")

export const scheduleShapes: ReadonlyArray<Shape> = [
  {
    name: "schedules-every-second",
    attacker: "tenant",
    room: "schedules",
    sends: "500 functions with a schedule that fires every second",
    sees: [200],
    source: everySecond(500),
    attack: async (attack) => {
      await attack.send({ path: "/v1/projects/attack/schedules", as: 1 })
      await attack.wait()
    }
  },
  {
    name: "created-schedules",
    attacker: "tenant",
    room: "schedules",
    sends: "32 clients create up to 10,500 schedules that fire every second, above the limit of an environment",
    sees: [201, 400, 429, "pending"],
    source: tick,
    attack: (attack) =>
      attack.clients(32, () =>
        attack.send({
          path: "/v1/events",
          as: 1,
          body: { event_type: "svc:schedule:new", event_data: { fn: "main/tick", schedule: "* * * * * *" } }
        })
      )
  },
  {
    name: "same-instant",
    attacker: "tenant",
    room: "schedules",
    sends: "32 clients create 2,000 schedules that all fire once, at the same instant during the attack",
    sees: [201, 400, 429, "pending"],
    source: tick,
    attack: async (attack) => {
      const schedule = new Date(Date.now() + attack.remainingMs / 2).toISOString()
      let count = 0
      await attack.clients(32, async () => {
        if (count++ >= 2_000) return attack.wait()
        await attack.send({
          path: "/v1/events",
          as: 1,
          body: { event_type: "svc:schedule:new", event_data: { fn: "main/tick", schedule } }
        })
      })
    }
  }
]
