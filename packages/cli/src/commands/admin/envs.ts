import type { Environment } from "@weft/client"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const org = Argument.String("org").pipe(Argument.withDescription("The organization's slug or id"))

const columns: ReadonlyArray<Column<Environment>> = [
  { title: "ENVIRONMENT", of: (env) => env.name },
  { title: "ID", of: (env) => env.env_id },
  { title: "ACTIVE", of: (env) => (env.active ? "yes" : "no") }
]

const list = Command.make(
  "list",
  { org, ...listingFlags },
  Effect.fnUntraced(function* ({ org, ...range }) {
    const api = yield* Api
    const envs = yield* api.requestAdmin((admin, options) =>
      loadPages(range, (page) => admin.listEnvs(org, page, options))
    )
    yield* printTable(columns, envs, `${org} has no environments`)
  })
).pipe(
  Command.withDescription("List the environments of an organization"),
  Command.withExamples([{ command: "weft admin envs list acme" }])
)

const create = Command.make(
  "create",
  { org, name: Argument.String("name").pipe(Argument.withDescription("Name, such as production")) },
  Effect.fnUntraced(function* ({ org, name }) {
    const api = yield* Api
    const output = yield* Output
    const env = yield* api.requestAdmin((admin, options) => admin.createEnv(org, { name }, options))
    yield* output.print(env, () => env.env_id)
    yield* output.note(`Create a key for it with: weft admin api-keys create ${env.env_id}`)
  })
).pipe(
  Command.withDescription("Create an environment and print its id"),
  Command.withExamples([{ command: "weft admin envs create acme production" }])
)

export const envs = Command.make("envs").pipe(
  Command.withDescription("Environments of organizations"),
  Command.withSubcommands([list, create])
)
