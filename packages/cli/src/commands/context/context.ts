/** `weft context`: the secrets of a project. Their values go in and never come out. */
import type { ContextVariable } from "@weft/client"
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { refuseSecret, secretArgument } from "../../input/SecretArgument.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { readProject } from "../../project/Project.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"
import { readValue } from "./Value.ts"

const project = Flag.String("project").pipe(
  Flag.withMetavar("name"),
  Flag.withDescription("The project; that of weft.json by default"),
  Flag.optional
)

const key = Argument.String("key").pipe(Argument.withDescription("The variable's name, such as GITHUB_TOKEN"))

const projectOf = (named: Option.Option<string>) =>
  Option.match(named, {
    onSome: (name) => Effect.succeed(name),
    onNone: () =>
      Effect.mapBoth(readProject, {
        onSuccess: ({ name }) => name,
        onFailure: (error) => failure(error.code, error.message, "name the project with --project, or go to its folder")
      })
  })

const columns: ReadonlyArray<Column<ContextVariable>> = [
  { title: "KEY", of: (variable) => variable.key },
  { title: "CHANGED", of: (variable) => localTime(variable.updated_at) },
  { title: "DESCRIPTION", of: (variable) => variable.description, isFlexible: true, isExtra: true }
]

const list = Command.make(
  "list",
  { ...listingFlags, project },
  Effect.fnUntraced(function* ({ project, ...wanted }) {
    const api = yield* Api
    const name = yield* projectOf(project)
    const variables = yield* api.ask((weft, asking) => listed(wanted, (page) => weft.context.list(name, page, asking)))
    yield* printTable(columns, variables, `The project ${name} has no context variables`)
  })
).pipe(
  Command.withDescription("List the keys; values are never shown"),
  Command.withExamples([{ command: "weft context list --project shop" }])
)

const set = Command.make(
  "set",
  {
    key,
    value: secretArgument("value"),
    project,
    description: Flag.String("description").pipe(Flag.withDescription("What it is for"), Flag.optional)
  },
  Effect.fnUntraced(function* ({ key, value, project, description }) {
    const api = yield* Api
    const output = yield* Output
    yield* refuseSecret("A value", value, `weft context set ${key}`)
    const name = yield* projectOf(project)
    const secret = yield* readValue(key)
    const change = { value: Redacted.value(secret), description: Option.getOrUndefined(description) }
    const variable = yield* api
      .ask((weft, asking) => weft.context.update(name, key, change, asking))
      .pipe(
        Effect.catchIf(
          ({ code }) => code === "not_found",
          () => api.ask((weft, asking) => weft.context.create(name, { key, ...change }, asking))
        )
      )
    yield* output.print(variable, () => `Set ${variable.key} of ${name}`)
  })
).pipe(
  Command.withDescription("Set a secret: its value comes from a hidden prompt, or from stdin"),
  Command.withExamples([
    { command: "weft context set GITHUB_TOKEN", description: "Asks for the value" },
    { command: "weft context set TLS_KEY --project shop < key.pem", description: "Takes it from a file" }
  ])
)

const unset = Command.make(
  "unset",
  { key, project },
  Effect.fnUntraced(function* ({ key, project }) {
    const api = yield* Api
    const output = yield* Output
    const name = yield* projectOf(project)
    yield* api.ask((weft, asking) => weft.context.remove(name, key, asking))
    yield* output.print({ removed: key }, () => `Removed ${key} from ${name}`)
  })
).pipe(
  Command.withDescription("Remove a secret"),
  Command.withExamples([{ command: "weft context unset GITHUB_TOKEN" }])
)

export const context = Command.make("context").pipe(
  Command.withDescription("The secrets of a project, which its functions read"),
  Command.withSubcommands([list, set, unset])
)
