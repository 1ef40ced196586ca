/** `SessionStore` on SQL. */
import { NotFound } from "@weft/core"
import { Session, SessionStore } from "@weft/core/adapter"
import { Effect, Layer } from "effect"
import { Database, onlyRow, orUnavailable, type RowOf, readCount } from "./Database.ts"
import { decodePermissions } from "./PermissionColumn.ts"

export const layer: Layer.Layer<SessionStore, never, Database> = Layer.effect(
  SessionStore,
  Effect.gen(function* () {
    const { dialect, reader, writer } = yield* Database

    const insert = Effect.fnUntraced(function* (session: Session, now: number, activeMax: number) {
      // Serializes inserts, so that two concurrent ones cannot both take the last place.
      yield* dialect.advisoryLock(writer, [`sessions ${session.api_key_id}`])
      const active = yield* readCount(
        writer<{ n: number }>`SELECT count(*) AS n FROM sessions
          WHERE api_key_id = ${session.api_key_id} AND expires_at > ${now}`
      )
      if (active >= activeMax) return false
      yield* writer`INSERT INTO sessions ${writer.insert(encoded(session))}`
      return true
    })

    const removeAll = Effect.fnUntraced(function* (apiKeyId: string, now: number) {
      const removed = yield* writer<Pick<Row, "session_id" | "expires_at">>`DELETE FROM sessions
        WHERE api_key_id = ${apiKeyId} RETURNING session_id, expires_at`
      return removed.filter((row) => row.expires_at > now).map((row) => row.session_id)
    })

    return SessionStore.of({
      insert: (session, now, activeMax) =>
        writer.withTransaction(insert(session, now, activeMax)).pipe(orUnavailable("insert")),

      find: (id) =>
        onlyRow(reader<Row>`SELECT * FROM sessions WHERE session_id = ${id}`, notFound).pipe(
          Effect.map(toSession),
          orUnavailable("find")
        ),

      list: (apiKeyId, now, { limit, offset }) => {
        const where = reader`api_key_id = ${apiKeyId} AND expires_at > ${now}`
        return Effect.all({
          items: Effect.map(
            reader<Row>`SELECT * FROM sessions WHERE ${where} ORDER BY session_id DESC LIMIT ${limit} OFFSET ${offset}`,
            (rows) => rows.map(toSession)
          ),
          total: readCount(reader<{ n: number }>`SELECT count(*) AS n FROM sessions WHERE ${where}`)
        }).pipe(orUnavailable("list"))
      },

      remove: (apiKeyId, id, now) =>
        onlyRow(
          writer`DELETE FROM sessions
            WHERE session_id = ${id} AND api_key_id = ${apiKeyId} AND expires_at > ${now} RETURNING session_id`,
          notFound
        ).pipe(Effect.asVoid, orUnavailable("remove")),

      removeAll: (apiKeyId, now) => removeAll(apiKeyId, now).pipe(orUnavailable("removeAll")),

      removeExpired: (now, limit) =>
        Effect.map(
          writer`DELETE FROM sessions WHERE session_id IN
            (SELECT session_id FROM sessions WHERE expires_at < ${now} LIMIT ${limit}) RETURNING session_id`,
          (rows) => rows.length
        ).pipe(orUnavailable("removeExpired"))
    })
  })
)

type Row = Omit<RowOf<Session>, "permissions"> & { readonly permissions: string }

const notFound = new NotFound({ resource: "session" })

const encoded = (session: Session) => ({ ...session, permissions: JSON.stringify(session.permissions) })

const toSession = (row: Row): Session =>
  new Session({ ...row, permissions: decodePermissions(row.permissions) }, { disableChecks: true })
