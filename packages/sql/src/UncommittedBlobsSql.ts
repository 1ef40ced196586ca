/** Reservations of blob keys that no file uses. */
import type { FileStore, Timestamp } from "@weft/core/adapter"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Database, orUnavailable } from "./Database.ts"

type Methods = Pick<FileStore["Service"], "reserve" | "extend" | "claimExpired" | "release">

export interface Reservations {
  readonly methods: Methods
  /** True if the key is reserved. Locks the reservation until the caller's transaction ends. */
  readonly isReserved: (key: string) => Effect.Effect<boolean, SqlError.SqlError>
  /** Reserves a key within the caller's transaction. */
  readonly reserve: (key: string, until: Timestamp) => Effect.Effect<void, SqlError.SqlError>
  /** Releases keys within the caller's transaction. */
  readonly release: (keys: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>
}

export const makeReservations = ({ dialect, writer }: Database["Service"]): Reservations => {
  const reserve = (key: string, until: Timestamp) =>
    Effect.asVoid(
      writer`INSERT INTO loose_bytes (storage_path, until, taken) VALUES (${key}, ${until}, 0)
        ON CONFLICT (storage_path) DO UPDATE SET until = excluded.until WHERE loose_bytes.taken = 0`
    )
  const release = (keys: ReadonlyArray<string>) =>
    Effect.asVoid(writer`DELETE FROM loose_bytes WHERE storage_path ${dialect.among(writer, keys)}`)

  return {
    isReserved: (key) =>
      Effect.map(
        writer`SELECT 1 AS n FROM loose_bytes
          WHERE storage_path = ${key} AND taken = 0${writer.literal(dialect.forUpdate())}`,
        (rows) => rows.length > 0
      ),
    reserve,
    release,

    methods: {
      reserve: (key, until) => reserve(key, until).pipe(orUnavailable("reserve")),

      extend: (key, until) =>
        Effect.map(
          writer`UPDATE loose_bytes SET until = ${until} WHERE storage_path = ${key} AND taken = 0
          RETURNING storage_path`,
          (rows) => rows.length > 0
        ).pipe(orUnavailable("extend")),

      claimExpired: (now, retryAt, limit) =>
        Effect.map(
          writer<{ storage_path: string }>`WITH expired AS MATERIALIZED (
            SELECT storage_path FROM loose_bytes WHERE until <= ${now} ORDER BY until, storage_path LIMIT ${limit}
            ${writer.literal(dialect.skipLocked)}
          ) UPDATE loose_bytes SET taken = 1, until = ${retryAt}
          WHERE storage_path IN (SELECT storage_path FROM expired) RETURNING storage_path`,
          (rows) => rows.map((row) => row.storage_path)
        ).pipe(orUnavailable("claimExpired")),

      release: (keys) => release(keys).pipe(orUnavailable("release"))
    }
  }
}
