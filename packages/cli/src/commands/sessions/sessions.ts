/** `weft sessions`: credentials that expire after 1 hour by default, and after 24 hours at most. */
import type { Session } from "@weft/client"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { usageError } from "../../Failure.ts"
import { formatPermissions } from "../../input/Permissions.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import type { Column } from "../../output/Table.ts"
import { localTime } from "../../output/Times.ts"
import { allowFlag, expiresFlag, readRequiredPermissions } from "../access/CredentialFlags.ts"
import { listingFlags, loadPages, printTable } from "../Lists.ts"

const columns: ReadonlyArray<Column<Session>> = [
  { title: "SESSION", of: (session) => session.session_id },
  { title: "EXPIRES", of: (session) => localTime(session.expires_at) },
  { title: "ALLOWED", of: (session) => formatPermissions(session.permissions).join(" "), isFlexible: true }
]

const list = Command.make(
  "list",
  listingFlags,
  Effect.fnUntraced(function* (range) {
    const api = yield* Api
    const sessions = yield* api.request((weft, options) =>
      loadPages(range, (page) => weft.sessions.list(page, options))
    )
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
    const session = yield* api.request((weft, options) => weft.sessions.create(input, options))
    yield* output.print(session, () => session.token)
    yield* output.note(`The token is shown only once. It expires at ${localTime(session.expires_at)}`)
  })
).pipe(
  Command.withDescription("Create a session, for 1 hour by default, and print its token"),
  Command.withExamples([{ command: "weft sessions create --allow 'stream:*=read' --expires 15m" }])
)

const revoke = Command.make(
  "revoke",
  {
    sessions: Argument.String("session").pipe(Argument.withDescription("Ids of sessions"), Argument.variadic()),
    all: switchFlag("all", "Revoke all sessions of your API key")
  },
  Effect.fnUntraced(function* ({ sessions, all }) {
    const api = yield* Api
    const output = yield* Output
    if (all === sessions.length > 0) {
      return yield* usageError("Select the sessions to revoke", "give either their ids or --all")
    }
    if (all) {
      const answer = yield* api.request((weft, options) => weft.sessions.revokeAll(options))
      return yield* output.print(answer, () => `Revoked ${answer.revoked_count}`)
    }
    for (const session of sessions) {
      yield* api.request((weft, options) => weft.sessions.revoke(session, options))
      yield* output.line({ revoked: session }, () => `Revoked ${session}`)
    }
  })
).pipe(
  Command.withDescription("Revoke sessions before they expire"),
  Command.withExamples([{ command: "weft sessions revoke --all" }])
)

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("Sessions: short-lived credentials, such as for a web page"),
  Command.withSubcommands([list, create, revoke])
)
