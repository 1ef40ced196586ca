/** The file of a database, and the right to use it. */
import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync } from "node:fs"
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
        makeFolder(dirname(lockFile))
        createFile(resolve(file))
        createFile(lockFile)
        // The system says why not; SQLite says only that it cannot open the file.
        for (const path of [resolve(file), lockFile]) accessSync(path, constants.R_OK | constants.W_OK)
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

/** The names of folders that were missing are durable; that of the file is with SQLite's first commit. */
const makeFolder = (folder: string): void => {
  const firstMade = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (firstMade === undefined) return
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) {
    const parent = openSync(dirname(made), "r")
    try {
      fsyncSync(parent)
    } finally {
      closeSync(parent)
    }
  }
}

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
