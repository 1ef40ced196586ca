import type { ApiKey } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { formatPermissions } from "../../input/Permissions.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { allowFlag, readPermissions } from "../access/CredentialFlags.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const env = Argument.String("env").pipe(Argument.withDescription("The environment's id"))
const key = Argument.String("key").pipe(Argument.withDescription("The API key's id"))
const name = Flag.String("name").pipe(Flag.withDescription("Name of the key"), Flag.optional)

const columns: ReadonlyArray<Column<ApiKey>> = [
  { title: "KEY", of: (key) => key.api_key_id },
  { title: "ENABLED", of: (key) => (key.enabled ? "yes" : "no") },
  { title: "CREATED", of: (key) => localTime(key.created_at) },
  { title: "NAME", of: (key) => key.name, isFlexible: true },
  { title: "ALLOWED", of: (key) => formatPermissions(key.permissions).join(" "), isFlexible: true, isExtra: true }
]

const list = Command.make(
  "list",
  { env, ...listingFlags },
  Effect.fnUntraced(function* ({ env, ...range }) {
    const api = yield* Api
    const keys = yield* api.requestAdmin((admin, options) =>
      loadPages(range, (page) => admin.listApiKeys(env, page, options))
    )
    yield* printTable(columns, keys, "The environment has no API keys")
  })
).pipe(
  Command.withDescription("List the API keys of an environment"),
  Command.withExamples([{ command: "weft admin api-keys list 01970d3c-6a20-78bf-a48c-b3d1cf705c10" }])
)

const create = Command.make(
  "create",
  { env, name, allow: allowFlag },
  Effect.fnUntraced(function* ({ env, name, allow }) {
    const api = yield* Api
    const output = yield* Output
    const permissions = (yield* readPermissions(allow)) ?? undefined
    const input = { name: Option.getOrUndefined(name), permissions }
    const made = yield* api.requestAdmin((admin, options) => admin.createApiKey(env, input, options))
    yield* output.print(made, () => made.token)
    yield* output.note(`The token is shown only once. The key is ${made.api_key_id}`)
  })
).pipe(
  Command.withDescription("Create an API key and print its token; without --allow it has all permissions"),
  Command.withExamples([
    { command: "weft admin api-keys create 01970d3c-6a20-78bf-a48c-b3d1cf705c10 --name deploy --allow 'build:*=*'" }
  ])
)

const update = Command.make(
  "update",
  {
    env,
    key,
    name,
    allow: allowFlag,
    enabled: Flag.Boolean("enabled").pipe(
      Flag.withDescription("Enable the key; --no-enabled disables it and the credentials that it created"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ env, key, name, allow, enabled }) {
    const api = yield* Api
    const output = yield* Output
    if (allow.length === 0 && Option.isNone(name) && Option.isNone(enabled)) {
      return yield* usageError("No change is given", "give --name, --allow, --enabled or --no-enabled")
    }
    const change = {
      name: Option.getOrUndefined(name),
      enabled: Option.getOrUndefined(enabled),
      permissions: (yield* readPermissions(allow)) ?? undefined
    }
    const changed = yield* api.requestAdmin((admin, options) => admin.updateApiKey(env, key, change, options))
    yield* output.print(changed, () => `Changed ${changed.api_key_id}: ${changed.enabled ? "enabled" : "disabled"}`)
  })
).pipe(
  Command.withDescription("Rename, enable or disable an API key, or change its permissions"),
  Command.withExamples([
    {
      command:
        "weft admin api-keys update 01970d3c-6a20-78bf-a48c-b3d1cf705c10 01970d3d-0c30-7d84-a3f7-2b9e4d6c8105 --no-enabled"
    }
  ])
)

const remove = Command.make(
  "remove",
  { env, key },
  Effect.fnUntraced(function* ({ env, key }) {
    const api = yield* Api
    const output = yield* Output
    yield* api.requestAdmin((admin, options) => admin.removeApiKey(env, key, options))
    yield* output.print({ removed: key }, () => `Removed ${key} and the keys and sessions that it created`)
  })
).pipe(
  Command.withDescription("Delete an API key and the credentials that it created"),
  Command.withExamples([
    {
      command: "weft admin api-keys remove 01970d3c-6a20-78bf-a48c-b3d1cf705c10 01970d3d-0c30-7d84-a3f7-2b9e4d6c8105"
    }
  ])
)

export const apiKeys = Command.make("api-keys").pipe(
  Command.withDescription("API keys of environments"),
  Command.withSubcommands([list, create, update, remove])
)
