/** `weft login`: stores a token for a server after the server has accepted it. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { Api, makeApi } from "../../connection/Api.ts"
import type { Target } from "../../connection/Target.ts"
import { rejectSecretArgument, secretArgument } from "../../input/SecretArgument.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { Profiles } from "../../profiles/Profiles.ts"
import { getProfile, type Profile, withProfile } from "../../profiles/ProfilesConfig.ts"
import { readSecret } from "./Secret.ts"

const isAdmin = switchFlag("admin", "Store the server's admin token instead of an API key")

export const login = Command.make(
  "login",
  { isAdmin, token: secretArgument("token") },
  Effect.fnUntraced(function* ({ isAdmin, token }) {
    yield* rejectSecretArgument("A token", token, "weft login")
    const output = yield* Output
    const profiles = yield* Profiles
    const target = yield* (yield* Api).target
    const secret = yield* readSecret(isAdmin ? `Admin token of ${target.url}` : `API key of ${target.url}`)
    const where = yield* isAdmin ? checkAdmin(target, secret) : checkKey(target, secret)

    const config = yield* profiles.read
    const name = target.profile
    const profile: Profile = {
      ...(getProfile(config, name)?.url === target.url ? getProfile(config, name) : {}),
      url: target.url,
      ...(isAdmin ? { admin_token: Redacted.value(secret) } : { api_key: Redacted.value(secret) })
    }
    yield* profiles.write({ ...withProfile(config, name, profile), current: name })
    yield* output.print(
      { profile: name, url: target.url },
      () => `Logged in to ${target.url}${where}; profile ${output.paint.bold(name)} is now current`
    )
  })
).pipe(
  Command.withDescription("Store a token for a server, from a hidden prompt or from stdin"),
  Command.withExamples([
    { command: "weft login --url https://weft.example.com", description: "Prompt for an API key" },
    {
      command: "weft login --url https://weft.example.com --profile production < key.txt",
      description: "Read it from a file"
    }
  ])
)

/** Checks the key and returns its environment. A key without permission to read the environment is valid. */
const checkKey = (target: Target, apiKey: Redacted.Redacted<string>) =>
  makeApi(Effect.succeed({ ...target, apiKey }))
    .request((weft, options) => weft.env.get(options))
    .pipe(
      Effect.map(({ name }) => `, environment ${name}`),
      Effect.catchIf(
        ({ code }) => code === "forbidden",
        () => Effect.succeed("")
      )
    )

const checkAdmin = (target: Target, adminToken: Redacted.Redacted<string>) =>
  makeApi(Effect.succeed({ ...target, adminToken }))
    .requestAdmin((admin, options) => admin.listOrgs({ limit: 1 }, options))
    .pipe(Effect.as(" as administrator"))
