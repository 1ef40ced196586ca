/** `weft profiles`: the servers in the config file. Tokens are never shown. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { type ProfileBook, profileOf, withoutProfile } from "../../profiles/ProfileBook.ts"
import { Profiles } from "../../profiles/Profiles.ts"

const name = Argument.String("name").pipe(Argument.withDescription("The name of a profile"))

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const output = yield* Output
    const { read, file } = yield* Profiles
    const rows = rowsOf(yield* read)
    const width = Math.max(0, ...rows.map((row) => row.profile.length))
    yield* output.print(rows, () =>
      rows.length === 0
        ? `No profiles in ${file}; \`weft login\` and \`weft server\` make some`
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

const rowsOf = (book: ProfileBook) =>
  Object.entries(book.profiles).map(([profile, { url, api_key, admin_token }]) => ({
    profile,
    url,
    current: profile === book.current,
    has: [...(api_key === undefined ? [] : ["key"]), ...(admin_token === undefined ? [] : ["admin token"])]
  }))

const known = Effect.fnUntraced(function* (name: string) {
  const book = yield* (yield* Profiles).read
  if (profileOf(book, name) !== undefined) return book
  return yield* failure("config", `There is no profile ${JSON.stringify(name)}`, "see `weft profiles list`")
})

const use = Command.make(
  "use",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    const output = yield* Output
    const profiles = yield* Profiles
    const book = yield* known(name)
    yield* profiles.write({ ...book, current: name })
    yield* output.print({ current: name }, () => `The profile ${name} is used from now on`)
  })
).pipe(
  Command.withDescription("Use a profile when none is named"),
  Command.withExamples([{ command: "weft profiles use production" }])
)

const remove = Command.make(
  "remove",
  { name },
  Effect.fnUntraced(function* ({ name }) {
    const output = yield* Output
    const profiles = yield* Profiles
    const book = yield* known(name)
    yield* profiles.write(withoutProfile(book, name))
    yield* output.print({ removed: name }, () => `Removed the profile ${name} with its tokens`)
  })
).pipe(
  Command.withDescription("Forget a server and its tokens"),
  Command.withExamples([{ command: "weft profiles remove production" }])
)

export const profiles = Command.make("profiles").pipe(
  Command.withDescription("The servers in the config file"),
  Command.withSubcommands([list, use, remove])
)
