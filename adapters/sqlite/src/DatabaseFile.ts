/** The file of a database, and the lock on it. */
import { accessSync, closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect } from "effect"
import { DatabaseInUse, DatabaseUnusable } from "./Errors.ts"

const busy = 5

/**
 * Creates the file and its folder if they do not exist, accessible to the owner only. Locks the file until the scope
 * ends. The operating system releases the lock when the process ends in any way.
 */
export const acquireFile = (file: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const lockFile = `${resolve(file)}.lock`
      let lock: DatabaseSync | undefined
      try {
        makeFolder(dirname(lockFile))
        createFile(resolve(file))
        createFile(lockFile)
        // The system's error has the reason. SQLite reports only that it cannot open the file.
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

/**
 * Creates a folder with its parents, and syncs the parents of new folders. SQLite's first commit syncs the file's own
 * folder. `mkdir` with `recursive` would retry forever below a folder that rejects new names with ENOENT, such as /proc.
 */
const makeFolder = (folder: string): void => {
  const missing = [folder]
  for (let path = dirname(folder); !existsSync(path) && path !== dirname(path); path = dirname(path)) {
    missing.unshift(path)
  }
  for (const path of missing) {
    if (makeOne(path)) syncFolder(dirname(path))
  }
}

/** Creates one folder. Returns false if it exists. */
const makeOne = (path: string): boolean => {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (cause) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false
    throw cause
  }
}

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Creates a file. It must not open an existing one: closing it would release the POSIX locks that SQLite holds on it
 * elsewhere in this process.
 */
const createFile = (path: string): void => {
  try {
    closeSync(openSync(path, "wx", 0o600))
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EEXIST")) throw cause
  }
}
