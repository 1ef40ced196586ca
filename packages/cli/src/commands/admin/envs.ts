import type { Environment } from "@weft/client"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"

const org = Argument.String("org").pipe(Argument.withDescription("The organization's slug or id"))

const columns: ReadonlyArray<Column<Environment>> = [
  { title: "ENVIRONMENT", of: (env) => env.name },
  { title: "ID", of: (env) => env.env_id },
  { title: "ACTIVE", of: (env) => (env.active ? "yes" : "no") }
]

const list = Command.make(
  "list",
  { org, ...listingFlags },
  Effect.fnUntraced(function* ({ org, ...wanted }) {
    const api = yield* Api
    const envs = yield* api.askAdmin((admin, asking) => listed(wanted, (page) => admin.listEnvs(org, page, asking)))
    yield* printTable(columns, envs, `${org} has no environments`)
  })
).pipe(
  Command.withDescription("List the environments of an organization"),
  Command.withExamples([{ command: "weft admin envs list acme" }])
)

const create = Command.make(
  "create",
  { org, name: Argument.String("name").pipe(Argument.withDescription("Such as production")) },
  Effect.fnUntraced(function* ({ org, name }) {
    const api = yield* Api
    const output = yield* Output
    const env = yield* api.askAdmin((admin, asking) => admin.createEnv(org, { name }, asking))
    yield* output.print(env, () => env.env_id)
    yield* output.note(`Give it a key with: weft admin api-keys create ${env.env_id}`)
  })
).pipe(
  Command.withDescription("Make an environment, and print its id"),
  Command.withExamples([{ command: "weft admin envs create acme production" }])
)

export const envs = Command.make("envs").pipe(
  Command.withDescription("Environments of organizations"),
  Command.withSubcommands([list, create])
)
