/** `weft context`: the secrets of a project. No command prints their values. */
import type { ContextVariable } from "@weft/client"
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { rejectSecretArgument, secretArgument } from "../../input/SecretArgument.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { readProject } from "../../project/Project.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"
import { readValue } from "./Value.ts"

const project = Flag.String("project").pipe(
  Flag.withMetavar("name"),
  Flag.withDescription("The project; by default that of weft.json"),
  Flag.optional
)

const key = Argument.String("key").pipe(Argument.withDescription("The secret's name, such as GITHUB_TOKEN"))

const resolveProject = (named: Option.Option<string>) =>
  Option.match(named, {
    onSome: (name) => Effect.succeed(name),
    onNone: () =>
      Effect.mapBoth(readProject, {
        onSuccess: ({ name }) => name,
        onFailure: (error) =>
          failure(error.code, error.message, "name the project with --project, or change to its folder")
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
  Effect.fnUntraced(function* ({ project, ...range }) {
    const api = yield* Api
    const name = yield* resolveProject(project)
    const variables = yield* api.request((weft, options) =>
      loadPages(range, (page) => weft.context.list(name, page, options))
    )
    yield* printTable(columns, variables, `Project ${name} has no secrets`)
  })
).pipe(
  Command.withDescription("List the names of secrets; values are never shown"),
  Command.withExamples([{ command: "weft context list --project shop" }])
)

const set = Command.make(
  "set",
  {
    key,
    value: secretArgument("value"),
    project,
    description: Flag.String("description").pipe(Flag.withDescription("Purpose of the secret"), Flag.optional)
  },
  Effect.fnUntraced(function* ({ key, value, project, description }) {
    const api = yield* Api
    const output = yield* Output
    yield* rejectSecretArgument("A value", value, `weft context set ${key}`)
    const name = yield* resolveProject(project)
    const secret = yield* readValue(key)
    const change = { value: Redacted.value(secret), description: Option.getOrUndefined(description) }
    const variable = yield* api
      .request((weft, options) => weft.context.update(name, key, change, options))
      .pipe(
        Effect.catchIf(
          ({ code }) => code === "not_found",
          () => api.request((weft, options) => weft.context.create(name, { key, ...change }, options))
        )
      )
    yield* output.print(variable, () => `Set ${variable.key} of ${name}`)
  })
).pipe(
  Command.withDescription("Set a secret; its value comes from a hidden prompt or from stdin"),
  Command.withExamples([
    { command: "weft context set GITHUB_TOKEN", description: "Prompts for the value" },
    { command: "weft context set TLS_KEY --project shop < key.pem", description: "Reads it from a file" }
  ])
)

const unset = Command.make(
  "unset",
  { key, project },
  Effect.fnUntraced(function* ({ key, project }) {
    const api = yield* Api
    const output = yield* Output
    const name = yield* resolveProject(project)
    yield* api.request((weft, options) => weft.context.remove(name, key, options))
    yield* output.print({ removed: key }, () => `Removed ${key} from ${name}`)
  })
).pipe(
  Command.withDescription("Remove a secret"),
  Command.withExamples([{ command: "weft context unset GITHUB_TOKEN" }])
)

export const context = Command.make("context").pipe(
  Command.withDescription("Secrets of a project"),
  Command.withSubcommands([list, set, unset])
)
