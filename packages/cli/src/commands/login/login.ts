/** `weft login`: keeps a token for a server, after the server has accepted it. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { Api, apiOf } from "../../connection/Api.ts"
import type { Target } from "../../connection/Target.ts"
import { refuseSecret, secretArgument } from "../../input/SecretArgument.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { type Profile, profileOf, withProfile } from "../../profiles/ProfileBook.ts"
import { Profiles } from "../../profiles/Profiles.ts"
import { readSecret } from "./Secret.ts"

const isAdmin = switchFlag("admin", "Take the admin token of the server instead of an API key")

export const login = Command.make(
  "login",
  { isAdmin, token: secretArgument("token") },
  Effect.fnUntraced(function* ({ isAdmin, token }) {
    yield* refuseSecret("A token", token, "weft login")
    const output = yield* Output
    const profiles = yield* Profiles
    const target = yield* (yield* Api).target
    const secret = yield* readSecret(isAdmin ? `Admin token of ${target.url}` : `API key of ${target.url}`)
    const where = yield* isAdmin ? checkAdmin(target, secret) : checkKey(target, secret)

    const book = yield* profiles.read
    const name = target.profile
    const profile: Profile = {
      ...(profileOf(book, name)?.url === target.url ? profileOf(book, name) : {}),
      url: target.url,
      ...(isAdmin ? { admin_token: Redacted.value(secret) } : { api_key: Redacted.value(secret) })
    }
    yield* profiles.write({ ...withProfile(book, name, profile), current: name })
    yield* output.print(
      { profile: name, url: target.url },
      () => `Logged in to ${target.url}${where}; the profile ${output.paint.bold(name)} is used from now on`
    )
  })
).pipe(
  Command.withDescription("Keep a token for a server: from a hidden prompt, or from stdin"),
  Command.withExamples([
    { command: "weft login --url https://weft.example.com", description: "Ask for an API key" },
    {
      command: "weft login --url https://weft.example.com --profile production < key.txt",
      description: "Take it from a file"
    }
  ])
)

/** Where the key leads. That it may not read its environment does not make it wrong. */
const checkKey = (target: Target, apiKey: Redacted.Redacted<string>) =>
  apiOf(Effect.succeed({ ...target, apiKey }))
    .ask((weft, asking) => weft.env.get(asking))
    .pipe(
      Effect.map(({ name }) => `, environment ${name}`),
      Effect.catchIf(
        ({ code }) => code === "forbidden",
        () => Effect.succeed("")
      )
    )

const checkAdmin = (target: Target, adminToken: Redacted.Redacted<string>) =>
  apiOf(Effect.succeed({ ...target, adminToken }))
    .askAdmin((admin, asking) => admin.listOrgs({ limit: 1 }, asking))
    .pipe(Effect.as(" as its admin"))
