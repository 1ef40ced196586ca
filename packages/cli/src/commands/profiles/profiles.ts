/** `weft profiles`: servers in the config file. Tokens are never shown. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { Profiles } from "../../profiles/Profiles.ts"
import { getProfile, type ProfilesConfig, withoutProfile } from "../../profiles/ProfilesConfig.ts"

const name = Argument.String("name").pipe(Argument.withDescription("The name of a profile"))

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const output = yield* Output
    const { read, file } = yield* Profiles
    const rows = toRows(yield* read)
    const width = Math.max(0, ...rows.map((row) => row.profile.length))
    yield* output.print(rows, () =>
      rows.length === 0
        ? `No profiles in ${file}; create one with \`weft login\` or \`weft server\``
        : rows
            .map((row) =>
              `${row.current ? "*" : " "} ${row.profile.padEnd(width)}  ${row.url}  ${row.has.join(", ")}`.trimEnd()
            )
            .join("\n")
    )
  })
).pipe(
  Command.withDescription("List the profiles; * marks the current one"),
  Command.withExamples([{ command: "weft profiles list" }])
)

const toRows = (config: ProfilesConfig) =>
  Object.entries(config.profiles).map(([profile, { url, api_key, admin_token }]) => ({
    profile,
    url,
    current: profile === config.current,
    has: [...(api_key === undefined ? [] : ["key"]), ...(admin_token === undefined ? [] : ["admin token"])]
  }))

const known = Effect.fnUntraced(function* (name: string) {
  const config = yield* (yield* Profiles).read
  if (getProfile(config, name) !== undefined) return config
  return yield* failure("config", `There is no profile ${JSON.stringify(name)}`, "see `weft profiles list`")
})

const use = Command.make(
  "use",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    const output = yield* Output
    const profiles = yield* Profiles
    const config = yield* known(name)
    yield* profiles.write({ ...config, current: name })
    yield* output.print({ current: name }, () => `Profile ${name} is now current`)
  })
).pipe(
  Command.withDescription("Make a profile the current one"),
  Command.withExamples([{ command: "weft profiles use production" }])
)

const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    const output = yield* Output
    const profiles = yield* Profiles
    const config = yield* known(name)
    yield* profiles.write(withoutProfile(config, name))
    yield* output.print({ removed: name }, () => `Removed profile ${name} and its tokens`)
  })
).pipe(
  Command.withDescription("Remove a server and its tokens"),
  Command.withExamples([{ command: "weft profiles remove production" }])
)

export const profiles = Command.make("profiles").pipe(
  Command.withDescription("Servers in the config file"),
  Command.withSubcommands([list, use, remove])
)
