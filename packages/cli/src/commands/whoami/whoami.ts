/** `weft whoami`: which server commands go to, and as whom. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { fieldLines } from "../../output/Table.ts"

/** What a token says of itself; its id is no secret. */
const credentialOf = (token: string): { readonly kind: string; readonly id: string } | null => {
  const [, prefix = "", id = ""] = /^(svc_|s_)?([0-9a-f-]{36})_/.exec(token) ?? []
  if (id === "") return null
  return { kind: prefix === "svc_" ? "API key" : prefix === "s_" ? "session" : "service key", id }
}

export const whoami = Command.make(
  "whoami",
  {},
  Effect.fnUntraced(function* () {
    const api = yield* Api
    const output = yield* Output
    const { profile, url, apiKey, adminToken } = yield* api.target
    const credential = apiKey === null ? null : credentialOf(Redacted.value(apiKey))
    const [status, env] = yield* api.ask((weft, asking) => Promise.all([weft.status.get(asking), weft.env.get(asking)]))
    const facts = { profile, url, version: status.version, ...env, credential, has_admin_token: adminToken !== null }
    yield* output.print(facts, () =>
      fieldLines([
        ["server", `${url} (${status.service} ${status.version})`],
        ["profile", profile],
        ["environment", `${env.name} ${env.env_id}`],
        ["organization", env.org_id],
        ["credential", credential === null ? "of a form that is not known" : `${credential.kind} ${credential.id}`],
        ["admin token", adminToken === null ? "none" : "yes"]
      ]).join("\n")
    )
  })
).pipe(
  Command.withDescription("Say which server and environment commands go to, and with which credential"),
  Command.withExamples([{ command: "weft whoami --profile production" }])
)
