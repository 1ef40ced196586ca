/** `weft keys`: service keys, long-lived credentials that may do less than the API key that makes them. */
import type { ServiceKey } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { misuse } from "../../Failure.ts"
import { rulesOf } from "../../input/Permissions.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { allowFlag, expiresFlag, readRequiredPermissions } from "../access/Allowing.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"

const stateOf = (key: ServiceKey): string => {
  if (key.active) return key.expires_at === null ? "active" : `active until ${localTime(key.expires_at)}`
  return key.revoked_at === null ? "expired" : "revoked"
}

const columns: ReadonlyArray<Column<ServiceKey>> = [
  { title: "KEY", of: (key) => key.service_key_id },
  { title: "NAME", of: (key) => key.name, isFlexible: true },
  { title: "STATE", of: stateOf },
  { title: "ALLOWED", of: (key) => rulesOf(key.permissions).join(" "), isFlexible: true, isExtra: true }
]

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (wanted) {
    const api = yield* Api
    const keys = yield* api.ask((weft, asking) => listed(wanted, (page) => weft.serviceKeys.list(page, asking)))
    yield* printTable(columns, keys, "Your API key has made no service keys")
  })
).pipe(
  Command.withDescription("List the service keys of your API key, also those that are over"),
  Command.withExamples([{ command: "weft keys list --json" }])
)

const create = Command.make(
  "create",
  {
    allow: allowFlag,
    name: Flag.String("name").pipe(Flag.withDescription("What to call it"), Flag.optional),
    description: Flag.String("description").pipe(Flag.withDescription("What it is for"), Flag.optional),
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
    const key = yield* api.ask((weft, asking) => weft.serviceKeys.create(input, asking))
    yield* output.print(key, () => key.token)
    yield* output.note(`This token is shown only now. Its key is ${key.service_key_id}`)
  })
).pipe(
  Command.withDescription("Make a service key, and print its token"),
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
    all: switchFlag("all", "Revoke all that your API key has made")
  },
  Effect.fnUntraced(function* ({ keys, all }) {
    const api = yield* Api
    const output = yield* Output
    if (all === keys.length > 0) return yield* misuse("Which keys are to be revoked?", "name their ids, or give --all")
    if (all) {
      const answer = yield* api.ask((weft, asking) => weft.serviceKeys.revokeAll(asking))
      return yield* output.print(answer, () => `Revoked ${answer.revoked_count}`)
    }
    for (const key of keys) {
      yield* api.ask((weft, asking) => weft.serviceKeys.revoke(key, asking))
      yield* output.line({ revoked: key }, () => `Revoked ${key}`)
    }
  })
).pipe(
  Command.withDescription("Revoke service keys, at once and for good"),
  Command.withExamples([{ command: "weft keys revoke 01970d3c-6a20-78bf-a48c-b3d1cf705c10" }])
)

export const keys = Command.make("keys").pipe(
  Command.withDescription("Service keys: credentials that may do less than your API key"),
  Command.withSubcommands([list, create, revoke])
)
