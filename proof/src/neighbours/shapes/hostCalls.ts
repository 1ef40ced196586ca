/** Four runs that flood the host with calls. */
import type { Shape } from "../Shape.ts"
import { hookPath } from "../Shape.ts"
import { clientsOfPrograms, toShape } from "./programs.ts"

/** Calls of a run before it waits for their results. */
const burst = 500

const flood = (name: string, does: string, call: string): Shape =>
  toShape({
    name,
    does: `${does}, ${burst} calls at once until its timeout of 2 s`,
    room: "host calls",
    code: `for (;;) await Promise.allSettled(Array.from({ length: ${burst} }, (_, n) => ${call}))`
  })

const secrets = flood("secret-flood", "reads 100 secrets of 1 KB", "svc.context.all()")

export const hostCallShapes: ReadonlyArray<Shape> = [
  flood("refused-fetches", "requests a private address, which is refused", "fetch('http://127.0.0.1:1/')"),
  flood(
    "refused-schedules",
    "creates schedules of an unknown function",
    "svc.schedules.create({ fn: 'main/none', schedule: '* * * * *' })"
  ),
  flood("unknown-calls", "calls an unknown function", "svc.call('main/none' + n)"),
  flood("malformed-events", "publishes events without a type", "svc.events.publish({ type: '', data: n })"),
  flood(
    "large-refused-events",
    "publishes invalid events of 100 KB",
    "svc.events.publish({ type: '', data: 'x'.repeat(1e5) })"
  ),
  flood("published-events", "publishes events that nobody handles", "svc.events.publish({ type: 'spam', data: n })"),
  flood("emitted-messages", "emits unread messages of 10 KB", "svc.stream.emit('spam', 'x'.repeat(1e4))"),
  flood("missing-files", "reads files that do not exist", "svc.files.get('none/' + n)"),
  flood("stored-files", "stores files of 1 KB", "svc.files.put('flood/' + (n % 50), 'x'.repeat(1000))"),
  flood("missing-assets", "reads assets that do not exist", "svc.asset('none' + n)"),
  {
    ...flood("file-lists", "lists 2,000 files", "svc.files.list('')"),
    prepare: async (attack) => {
      for (let first = 0; first < 2_000; first += 20) {
        await Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            attack.require({ method: "PUT", path: `/v1/files/upload/list/${first + n}`, body: "x" })
          )
        )
      }
      return ""
    }
  },
  {
    ...secrets,
    prepare: async (attack) => {
      for (let n = 0; n < 100; n++) {
        await attack.require({ path: "/v1/projects/attack/context", body: { key: `K${n}`, value: "x".repeat(1_000) } })
      }
      return ""
    }
  },
  {
    name: "unread-calls",
    attacker: "tenant",
    room: "host calls",
    sends: `${clientsOfPrograms} clients repeatedly call a function that makes calls without end and awaits none`,
    sees: [200, 500, "pending"],
    source:
      toShape({
        name: "unread-calls",
        does: "",
        code: "for (let n = 0; ; n++) { svc.events.publish({ type: 'spam', data: n }).catch(() => {}); if (n % 100 === 0) await null }"
      }).source ?? "",
    attack: (attack) => attack.clients(clientsOfPrograms, () => attack.send({ method: "POST", path: hookPath("x") }))
  }
]
