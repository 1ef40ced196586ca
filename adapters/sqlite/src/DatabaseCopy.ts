/** Copies of the database of a running server, for backups. */
import { closeSync, existsSync, fsyncSync, openSync } from "node:fs"
import { resolve } from "node:path"
import { backup, DatabaseSync } from "node:sqlite"
import { sealedColumns } from "@weft/sql"

/** Facts about a database that a backup needs. */
export interface DatabaseContents {
  /** Number of the latest migration step. */
  readonly schemaStep: number
  /** Ids of the master keys that encrypted its secrets. */
  readonly keyIds: ReadonlyArray<string>
  /** Keys of the blobs of its files and builds. */
  readonly blobKeys: ReadonlyArray<string>
  /** Names of the parts of its unfinished uploads. */
  readonly partNames: ReadonlyArray<string>
}

/** Maximum time that the copy waits for a lock of the server, in milliseconds. */
const busyTimeoutMs = 60_000

/** All pages in one step: the copy is one snapshot, and no write of the server restarts it. */
const allPages = 2 ** 31 - 1

/**
 * Copies the database to the new file `target`, in a thread of Node's pool, while a server writes to it. Checks the copy and
 * returns its contents. Rejects with a readable message if the file is no database of Weft, or if it is damaged.
 */
export const copyDatabase = async (file: string, target: string): Promise<DatabaseContents> => {
  if (!existsSync(file)) throw new Error(`${file} does not exist`)
  closeSync(openSync(target, "wx", 0o600))
  const source = new DatabaseSync(resolve(file), { readOnly: true, timeout: busyTimeoutMs })
  try {
    await backup(source, resolve(target), { rate: allPages })
  } finally {
    source.close()
  }
  const contents = readCopy(file, target)
  sync(target)
  return contents
}

const readCopy = (file: string, target: string): DatabaseContents => {
  const copy = new DatabaseSync(target)
  try {
    // The copy becomes a single file. The server selects WAL again when it opens it.
    copy.exec("PRAGMA journal_mode = DELETE")
    const [check] = texts(copy, "PRAGMA quick_check(1)")
    if (check !== "ok") throw new Error(`${file} is damaged: ${check?.replaceAll(/\s+/g, " ")}`)
    const tables = new Set(texts(copy, "SELECT name FROM sqlite_schema WHERE type = 'table'"))
    if (!tables.has("weft_migrations")) throw new Error(`${file} is no database of Weft`)
    return readContents(copy, tables)
  } finally {
    copy.close()
  }
}

/** The database may be of an earlier release, without some tables. */
const readContents = (copy: DatabaseSync, tables: ReadonlySet<string>): DatabaseContents => {
  const [step] = texts(copy, "SELECT MAX(migration_id) FROM weft_migrations")
  const sealed = sealedColumns
    .filter(({ table }) => tables.has(table))
    .map(({ table, column, large }) =>
      large === undefined
        ? `SELECT substr(${column}, 1, instr(${column}, '.') - 1) FROM ${table} WHERE ${column} IS NOT NULL`
        : `SELECT ${large.keyId} FROM ${table}`
    )
  return {
    schemaStep: Number(step),
    keyIds: texts(copy, sealed.join(" UNION ")),
    blobKeys: texts(copy, "SELECT storage_path FROM files UNION ALL SELECT storage_path FROM builds"),
    partNames: texts(copy, "SELECT storage_parts FROM uploads")
  }
}

/** Returns the first column of all rows. */
const texts = (database: DatabaseSync, query: string): ReadonlyArray<string> =>
  database
    .prepare(query)
    .all()
    .map((row) => String(Object.values(row)[0]))

const sync = (file: string): void => {
  const descriptor = openSync(file, "r+")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
