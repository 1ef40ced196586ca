/** `weft whoami`: the selected server, environment and credential. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import { fieldLines } from "../../output/Table.ts"

/** Reads kind and id from a token. Neither is secret. */
const parseCredential = (token: string): { readonly kind: string; readonly id: string } | null => {
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
    const credential = apiKey === null ? null : parseCredential(Redacted.value(apiKey))
    const [status, env] = yield* api.request((weft, options) =>
      Promise.all([weft.status.get(options), weft.env.get(options)])
    )
    const facts = { profile, url, version: status.version, ...env, credential, has_admin_token: adminToken !== null }
    yield* output.print(facts, () =>
      fieldLines([
        ["server", `${url} (${status.service} ${status.version})`],
        ["profile", profile],
        ["environment", `${env.name} ${env.env_id}`],
        ["organization", env.org_id],
        ["credential", credential === null ? "unknown format" : `${credential.kind} ${credential.id}`],
        ["admin token", adminToken === null ? "none" : "yes"]
      ]).join("\n")
    )
  })
).pipe(
  Command.withDescription("Show the selected server, environment and credential"),
  Command.withExamples([{ command: "weft whoami --profile production" }])
)
