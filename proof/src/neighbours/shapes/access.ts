/** Guessed credentials, unknown tenants and floods of credentials. */
import { randomBytes, randomUUID } from "node:crypto"
import type { Attack, Sent } from "../Attack.ts"
import type { Attacker, Room, Shape } from "../Shape.ts"

const flood = (
  attacker: Attacker,
  room: Room,
  name: string,
  sends: string,
  sees: Shape["sees"],
  sent: (turn: number, client: number) => Sent
): Shape => ({
  name,
  attacker,
  room,
  sends: `32 clients ${sends}`,
  sees: [...sees, "pending"],
  attack: (attack: Attack) => attack.clients(32, (client, turn) => attack.send(sent(turn, client)))
})

const secret = (): string => randomBytes(16).toString("hex")
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

export const accessShapes: ReadonlyArray<Shape> = [
  flood("stranger", "access", "guessed-api-keys", "guess API keys of new ids", [401], () => ({
    path: "/v1/runs",
    headers: bearer(`svc_${randomUUID()}_${secret()}`)
  })),
  flood("stranger", "access", "guessed-sessions", "guess sessions and service keys of new ids", [401], (turn) => ({
    path: "/v1/runs",
    headers: bearer(turn % 2 === 0 ? `s_${randomUUID()}_${secret()}` : `${randomUUID()}_${secret()}`)
  })),
  flood("stranger", "access", "guessed-admin-tokens", "guess the admin token", [401], () => ({
    path: "/admin/orgs",
    headers: bearer(secret())
  })),
  flood("stranger", "access", "guessed-links", "guess links to files", [401, 404], () => ({
    path: `/v1/files/${randomUUID()}/content?env_id=${randomUUID()}&expires=4000000000&signature=${secret()}`
  })),
  flood("stranger", "access", "unknown-tenants", "call webhooks of organizations that do not exist", [404], () => ({
    method: "POST",
    path: `/webhook/${secret()}/production/service/path`
  })),
  flood("stranger", "access", "unknown-environments", "call webhooks of environments that do not exist", [404], () => ({
    method: "POST",
    path: `/webhook/default/${secret()}/service/path`
  })),
  flood("stranger", "domains", "unknown-hosts", "call webhooks of custom domains that do not exist", [404], () => ({
    method: "POST",
    path: "/webhook/service/path",
    headers: { host: `${secret()}.example.com` }
  })),
  flood(
    "tenant",
    "domains",
    "domain-checks",
    "register custom domains and check them at once",
    [201, 400, 500],
    () => ({
      path: "/v1/domains",
      as: 1,
      body: { domain: `${secret()}.example.com` }
    })
  ),
  flood("tenant", "access", "session-flood", "create sessions with 1,000 resources", [201, 400, 429, "closed"], () => ({
    path: "/v1/sessions",
    as: 1,
    body: {
      permissions: Object.fromEntries(
        Array.from({ length: 1_000 }, (_, n) => [`event:${n}:${"x".repeat(40)}`, ["create"]])
      )
    }
  })),
  flood("tenant", "access", "service-key-flood", "create service keys", [201, 400, 429], () => ({
    path: "/v1/service-keys",
    as: 1,
    body: { expires_in: 3600, permissions: { "run:*": ["read"] } }
  })),
  flood(
    "tenant",
    "access",
    "audit-flood",
    "create secrets, each of which adds an entry to the audit log",
    [201],
    () => ({
      path: "/v1/projects/attack/context",
      as: 1,
      body: { key: `K${secret()}`, value: "x".repeat(1_000) }
    })
  ),
  {
    name: "refused-requests",
    attacker: "tenant",
    room: "access",
    sends: "32 clients create sessions with a session, which gets 403 and adds an entry to the audit log",
    sees: [403, "pending"],
    prepare: async (attack) => {
      const body = { permissions: { "session:*": ["create"] } }
      return String((await attack.require({ path: "/v1/sessions", body })).token)
    },
    attack: (attack, token) =>
      attack.clients(32, () => attack.send({ path: "/v1/sessions", headers: bearer(token), body: { permissions: {} } }))
  }
]
