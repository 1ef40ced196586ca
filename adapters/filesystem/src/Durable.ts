/** Durable names, and folders that only their owner can read. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs"
import { mkdir, open } from "node:fs/promises"
import { dirname } from "node:path"

export const ownerOnly = { folder: 0o700, file: 0o600 }

/** Syncs a folder: a new name of a file or folder is durable only after its parent folder is synced. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates a folder with its parents in an existing one; the names of the created ones are durable. */
export const makeFolder = async (folder: string): Promise<void> => {
  const firstMade = await mkdir(folder, { recursive: true, mode: ownerOnly.folder })
  for (const parent of parentsOfMade(folder, firstMade)) await syncFolder(parent)
}

export const syncFolderSync = (folder: string): void => {
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Creates a folder that the operator chose, with its parents; the names of the created ones are durable. `mkdir` with
 * `recursive` would retry forever below a folder that rejects new names with ENOENT, such as /proc.
 */
export const makeFolderSync = (folder: string): void => {
  const missing = [folder]
  for (let path = dirname(folder); !existsSync(path) && path !== dirname(path); path = dirname(path)) {
    missing.unshift(path)
  }
  for (const path of missing) {
    if (makeOneSync(path)) syncFolderSync(dirname(path))
  }
}

/** Creates one folder. Returns false if it exists. */
const makeOneSync = (path: string): boolean => {
  try {
    mkdirSync(path, { mode: ownerOnly.folder })
    return true
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false
    throw error
  }
}

/** Syncs `folder` and its parents from `firstMade` down; `firstMade` is undefined if none was created. */
const parentsOfMade = (folder: string, firstMade: string | undefined): ReadonlyArray<string> => {
  const parents: Array<string> = []
  if (firstMade === undefined) return parents
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) parents.push(dirname(made))
  return parents
}

/** True if nothing exists, a folder of other keys exists, or a file exists in place of a key's folder. */
export const isAbsence = (error: unknown): boolean =>
  error instanceof Error && "code" in error && absences.has(String(error.code))

const absences = new Set(["ENOENT", "EISDIR", "ENOTDIR"])

/** Resolves to null instead of a rejection because of absence. */
export const orNull = async <A>(promise: Promise<A>): Promise<A | null> => {
  try {
    return await promise
  } catch (error) {
    if (isAbsence(error)) return null
    throw error
  }
}
