/** The file of a database, and the right to use it. */
import { closeSync, mkdirSync, openSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { DatabaseInUse, DatabaseUnusable } from "./Errors.ts"

const busy = 5

/**
 * Makes the file and its folder where they are missing, readable for nobody else, and holds the file for the life
 * of the scope. The operating system gives it back when the process dies, however it dies.
 */
export const hold = (file: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const lockFile = `${resolve(file)}.lock`
      let lock: DatabaseSync | undefined
      try {
        mkdirSync(dirname(lockFile), { recursive: true, mode: 0o700 })
        createFile(resolve(file))
        createFile(lockFile)
        lock = new DatabaseSync(lockFile, { timeout: 0 })
        lock.exec("BEGIN EXCLUSIVE")
        return Effect.succeed(lock)
      } catch (cause) {
        lock?.close()
        return Effect.fail(
          cause instanceof Error && "errcode" in cause && cause.errcode === busy
            ? new DatabaseInUse({ file })
            : new DatabaseUnusable({ file, cause })
        )
      }
    }),
    (lock) => Effect.sync(() => lock.close())
  )

/**
 * Must not open a file that is there: closing it again would take the locks away that SQLite holds on it
 * elsewhere in this process.
 */
const createFile = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause
  }
}
