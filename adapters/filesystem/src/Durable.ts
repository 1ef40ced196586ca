/** Names that outlive a crash of the machine, and folders that only their owner can read. */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs"
import { mkdir, open } from "node:fs/promises"
import { dirname } from "node:path"

export const ownerOnly = { folder: 0o700, file: 0o600 }

/** A new name, of a file or of a folder, is durable only when the folder that it stands in is. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes a folder with its parents; the names of those that were missing are durable. */
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

export const makeFolderSync = (folder: string): void => {
  const firstMade = mkdirSync(folder, { recursive: true, mode: ownerOnly.folder })
  for (const parent of parentsOfMade(folder, firstMade)) syncFolderSync(parent)
}

/** Of `folder` and of those above it, down from `firstMade`, which is missing where none was made. */
const parentsOfMade = (folder: string, firstMade: string | undefined): ReadonlyArray<string> => {
  const parents: Array<string> = []
  if (firstMade === undefined) return parents
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) parents.push(dirname(made))
  return parents
}

/** There is nothing, a folder of other keys, or a file where the key has a folder. */
export const isAbsence = (error: unknown): boolean =>
  error instanceof Error && "code" in error && absences.has(String(error.code))

const absences = new Set(["ENOENT", "EISDIR", "ENOTDIR"])

/** What a promise resolves to; null when it fails because there is nothing. */
export const orNull = async <A>(promise: Promise<A>): Promise<A | null> => {
  try {
    return await promise
  } catch (error) {
    if (isAbsence(error)) return null
    throw error
  }
}
