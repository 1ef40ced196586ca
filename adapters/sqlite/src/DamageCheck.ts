/** Detection of a truncated or damaged database file at start. */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

const MiB = 1024 * 1024
/** Maximum size of a file that every start checks, at about 1 ms per MiB in the page cache. */
const alwaysBytesMax = 32 * MiB
/** Maximum size of a file that is checked after a crash: about 1 s in the page cache, longer from a disk. */
const afterCrashBytesMax = 1024 * MiB

const headerBytes = 100

/** Result of the checks before SQLite opens the file. */
export interface FileState {
  readonly size: number
  /** True if the last process ended without closing the database: its log remains. */
  readonly isUnclean: boolean
}

/** Throws if the file is shorter than its header says. Call it before anything opens the file. */
export const inspectFile = (file: string): FileState => {
  const { size } = statSync(file)
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  const isUnclean = (log?.size ?? 0) > 0
  // Pages of the log may not be in the file yet: then only SQLite knows its size.
  if (!isUnclean && size > 0) {
    const expected = readExpectedSize(file)
    if (size < expected) throw new Error(damaged(`the file has ${size} bytes instead of ${expected}`))
  }
  return { size, isUnclean }
}

/** Returns the size in the header, 0 if the header does not have it. Reads only the first bytes. */
const readExpectedSize = (file: string): number => {
  const header = Buffer.alloc(headerBytes)
  const descriptor = openSync(file, "r")
  try {
    if (readSync(descriptor, header, 0, headerBytes, 0) < headerBytes) return headerBytes
  } finally {
    closeSync(descriptor)
  }
  if (header.toString("latin1", 0, 15) !== "SQLite format 3") return 0
  // The count of pages is valid only for the change counter that was stored with it.
  if (header.readUInt32BE(24) !== header.readUInt32BE(92)) return 0
  const pageBytes = header.readUInt16BE(16)
  return header.readUInt32BE(28) * (pageBytes === 1 ? 65_536 : pageBytes)
}

/** Fails if `quick_check` finds damage. Skips large files, and logs that after a crash. */
export const checkContent = Effect.fnUntraced(function* (
  file: string,
  { size, isUnclean }: FileState,
  sql: SqlClient.SqlClient
) {
  if (size > (isUnclean ? afterCrashBytesMax : alwaysBytesMax)) {
    if (isUnclean) {
      yield* Effect.logWarning(
        `The database ${file} was not closed. It is too large for a check at start: run PRAGMA quick_check on a copy`
      )
    }
    return
  }
  const [row] = yield* sql.unsafe<{ readonly quick_check: string }>("PRAGMA quick_check(1)")
  const result = row?.quick_check ?? "no result"
  if (result !== "ok") return yield* Effect.fail(new Error(damaged(result.replaceAll(/\s+/g, " "))))
})

const damaged = (reason: string): string =>
  `it is damaged: ${reason}. Restore a backup, or recover its rows with the command .recover of sqlite3`
