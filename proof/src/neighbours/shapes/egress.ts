/** Functions whose requests are slow, huge or impossible. */
import type { Shape } from "../Shape.ts"
import { hookPath } from "../Shape.ts"
import { asWebhook } from "./programs.ts"

/** `port` in the code is the port of the attacker's own HTTP server. */
const requests = (name: string, does: string, code: string, needsUpstream: boolean): Shape => ({
  name,
  attacker: "tenant",
  room: "egress",
  sends: `8 clients repeatedly call a function that ${does}`,
  sees: [200, 500, "pending"],
  ...(needsUpstream ? { needsUpstream: true } : {}),
  source: asWebhook(`const port = request.body?.port; ${code}`),
  attack: (attack) =>
    attack.clients(8, () => attack.send({ path: hookPath("x"), body: { port: attack.plan.upstreamPort } }))
})

const times = (count: number, call: string): string =>
  `const all = await Promise.allSettled(Array.from({ length: ${count} }, async (_, n) => { ${call} })); return all.length`

export const egressShapes: ReadonlyArray<Shape> = [
  requests(
    "silent-hosts",
    "requests 100 times a host that never answers",
    times(100, "await fetch('http://127.0.0.1:' + port + '/silent')"),
    true
  ),
  requests(
    "trickling-hosts",
    "reads 100 answers that arrive at one byte a second",
    times(100, "await (await fetch('http://127.0.0.1:' + port + '/trickle')).text()"),
    true
  ),
  requests(
    "huge-answers",
    "reads 10 answers of 64 MiB, above the limit of an answer",
    times(10, "await (await fetch('http://127.0.0.1:' + port + '/huge')).text()"),
    true
  ),
  requests(
    "unread-answers-of-hosts",
    "requests 50 answers of 64 MiB and reads none",
    times(50, "await fetch('http://127.0.0.1:' + port + '/huge')"),
    true
  ),
  requests(
    "endless-redirects",
    "follows 100 endless chains of redirects",
    times(100, "await fetch('http://127.0.0.1:' + port + '/redirect')"),
    true
  ),
  requests(
    "small-requests",
    "sends 500 small requests",
    times(500, "await (await fetch('http://127.0.0.1:' + port + '/small')).text()"),
    true
  ),
  requests(
    "failing-names",
    "requests 200 names that do not exist",
    times(200, "await fetch('http://none' + n + '-' + Date.now() + '.invalid/')"),
    false
  )
]
