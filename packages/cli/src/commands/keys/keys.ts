/** `weft keys`: service keys, long-lived credentials with fewer permissions than the API key that creates them. */
import type { ServiceKey } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { formatPermissions } from "../../input/Permissions.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { allowFlag, expiresFlag, readRequiredPermissions } from "../access/CredentialFlags.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const formatState = (key: ServiceKey): string => {
  if (key.active) return key.expires_at === null ? "active" : `active until ${localTime(key.expires_at)}`
  return key.revoked_at === null ? "expired" : "revoked"
}

const columns: ReadonlyArray<Column<ServiceKey>> = [
  { title: "KEY", of: (key) => key.service_key_id },
  { title: "NAME", of: (key) => key.name, isFlexible: true },
  { title: "STATE", of: formatState },
  { title: "ALLOWED", of: (key) => formatPermissions(key.permissions).join(" "), isFlexible: true, isExtra: true }
]

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const keys = yield* api.request((weft, options) => loadPages(range, (page) => weft.serviceKeys.list(page, options)))
    yield* printTable(columns, keys, "Your API key has no service keys")
  })
).pipe(
  Command.withDescription("List the service keys of your API key, including expired and revoked ones"),
  Command.withExamples([{ command: "weft keys list --json" }])
)

const create = Command.make(
  "create",
  {
    allow: allowFlag,
    name: Flag.String("name").pipe(Flag.withDescription("Name of the key"), Flag.optional),
    description: Flag.String("description").pipe(Flag.withDescription("Purpose of the key"), Flag.optional),
    expires: expiresFlag
  },
  Effect.fnUntraced(function* ({ allow, name, description, expires }) {
    const api = yield* Api
    const output = yield* Output
    const input = {
      permissions: yield* readRequiredPermissions(allow),
      name: Option.getOrUndefined(name),
      description: Option.getOrUndefined(description),
      expires_in: Option.getOrUndefined(expires)
    }
    const key = yield* api.request((weft, options) => weft.serviceKeys.create(input, options))
    yield* output.print(key, () => key.token)
    yield* output.note(`The token is shown only once. The key is ${key.service_key_id}`)
  })
).pipe(
  Command.withDescription("Create a service key and print its token"),
  Command.withExamples([
    {
      command: "weft keys create --name ingest --allow 'event:order:created=create' --expires 90d",
      description: "It may publish events of one type"
    }
  ])
)

const revoke = Command.make(
  "revoke",
  {
    keys: Argument.String("key").pipe(Argument.withDescription("Ids of service keys"), Argument.variadic()),
    all: switchFlag("all", "Revoke all service keys of your API key")
  },
  Effect.fnUntraced(function* ({ keys, all }) {
    const api = yield* Api
    const output = yield* Output
    if (all === keys.length > 0) return yield* usageError("Select the keys to revoke", "give either their ids or --all")
    if (all) {
      const answer = yield* api.request((weft, options) => weft.serviceKeys.revokeAll(options))
      return yield* output.print(answer, () => `Revoked ${answer.revoked_count}`)
    }
    for (const key of keys) {
      yield* api.request((weft, options) => weft.serviceKeys.revoke(key, options))
      yield* output.line({ revoked: key }, () => `Revoked ${key}`)
    }
  })
).pipe(
  Command.withDescription("Revoke service keys permanently"),
  Command.withExamples([{ command: "weft keys revoke 01970d3c-6a20-78bf-a48c-b3d1cf705c10" }])
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("Service keys: credentials with fewer permissions than your API key"),
  Command.withSubcommands([list, create, revoke])
)
