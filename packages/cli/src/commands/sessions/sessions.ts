/** `weft sessions`: credentials for an hour, or a day at most. */
import type { Session } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { misuse } from "../../Failure.ts"
import { rulesOf } from "../../input/Permissions.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { allowFlag, expiresFlag, readRequiredPermissions } from "../access/Allowing.ts"
import { listed, listingFlags, printTable } from "../Listing.ts"

const columns: ReadonlyArray<Column<Session>> = [
  { title: "SESSION", of: (session) => session.session_id },
  { title: "EXPIRES", of: (session) => localTime(session.expires_at) },
  { title: "ALLOWED", of: (session) => rulesOf(session.permissions).join(" "), isFlexible: true }
]

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (wanted) {
    const api = yield* Api
    const sessions = yield* api.ask((weft, asking) => listed(wanted, (page) => weft.sessions.list(page, asking)))
    yield* printTable(columns, sessions, "Your API key has no active sessions")
  })
).pipe(
  Command.withDescription("List the active sessions of your API key"),
  Command.withExamples([{ command: "weft sessions list" }])
)

const create = Command.make(
  "create",
  { allow: allowFlag, expires: expiresFlag },
  Effect.fnUntraced(function* ({ allow, expires }) {
    const api = yield* Api
    const output = yield* Output
    const input = {
      permissions: yield* readRequiredPermissions(allow),
      expires_in: Option.getOrUndefined(expires)
    }
    const session = yield* api.ask((weft, asking) => weft.sessions.create(input, asking))
    yield* output.print(session, () => session.token)
    yield* output.note(`This token is shown only now. It is good until ${localTime(session.expires_at)}`)
  })
).pipe(
  Command.withDescription("Make a session, for an hour if nothing is said, and print its token"),
  Command.withExamples([{ command: "weft sessions create --allow 'stream:*=read' --expires 15m" }])
)

const revoke = Command.make(
  "revoke",
  {
    sessions: Argument.String("session").pipe(Argument.withDescription("Ids of sessions"), Argument.variadic()),
    all: switchFlag("all", "Revoke all of your API key")
  },
  Effect.fnUntraced(function* ({ sessions, all }) {
    const api = yield* Api
    const output = yield* Output
    if (all === sessions.length > 0) {
      return yield* misuse("Which sessions are to be revoked?", "name their ids, or give --all")
    }
    if (all) {
      const answer = yield* api.ask((weft, asking) => weft.sessions.revokeAll(asking))
      return yield* output.print(answer, () => `Revoked ${answer.revoked_count}`)
    }
    for (const session of sessions) {
      yield* api.ask((weft, asking) => weft.sessions.revoke(session, asking))
      yield* output.line({ revoked: session }, () => `Revoked ${session}`)
    }
  })
).pipe(
  Command.withDescription("Revoke sessions before they expire"),
  Command.withExamples([{ command: "weft sessions revoke --all" }])
)

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("Sessions: credentials for a short time, such as for a page"),
  Command.withSubcommands([list, create, revoke])
)
