/** Notes of keys whose bytes no file has. */
import type { FileStore, Timestamp } from "@weft/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Database, orUnavailable } from "./Database.ts"

export interface LooseNotes extends Pick<FileStore["Service"], "announce" | "extend" | "takeLoose" | "forget"> {
  /** For transactions of others; while they last nobody takes the key. */
  readonly isLoose: (key: string) => Effect.Effect<boolean, SqlError.SqlError>
  readonly loosen: (key: string, until: Timestamp) => Effect.Effect<void, SqlError.SqlError>
  readonly drop: (keys: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>
}

export const looseNotes = ({ dialect, writer }: Database["Service"]): LooseNotes => {
  const loosen = (key: string, until: Timestamp) =>
    Effect.asVoid(
      writer`INSERT INTO loose_bytes (storage_path, until, taken) VALUES (${key}, ${until}, 0)
        ON CONFLICT (storage_path) DO UPDATE SET until = excluded.until WHERE loose_bytes.taken = 0`
    )
  const drop = (keys: ReadonlyArray<string>) =>
    Effect.asVoid(writer`DELETE FROM loose_bytes WHERE storage_path IN (${dialect.texts(writer, keys)})`)

  return {
    isLoose: (key) =>
      Effect.map(
        writer`SELECT 1 AS n FROM loose_bytes
          WHERE storage_path = ${key} AND taken = 0${writer.literal(dialect.forUpdate())}`,
        (rows) => rows.length > 0
      ),
    loosen,
    drop,

    announce: (key, until) => loosen(key, until).pipe(orUnavailable("announce")),

    extend: (key, until) =>
      Effect.map(
        writer`UPDATE loose_bytes SET until = ${until} WHERE storage_path = ${key} AND taken = 0
          RETURNING storage_path`,
        (rows) => rows.length > 0
      ).pipe(orUnavailable("extend")),

    takeLoose: (now, retryAt, limit) =>
      Effect.map(
        writer<{ storage_path: string }>`UPDATE loose_bytes SET taken = 1, until = ${retryAt}
          WHERE storage_path IN (
            SELECT storage_path FROM loose_bytes WHERE until <= ${now} ORDER BY until, storage_path LIMIT ${limit}
            ${writer.literal(dialect.skipLocked)}
          ) RETURNING storage_path`,
        (rows) => rows.map((row) => row.storage_path)
      ).pipe(orUnavailable("takeLoose")),

    forget: (keys) => drop(keys).pipe(orUnavailable("forget"))
  }
}
