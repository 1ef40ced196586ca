/** Names that outlive a crash of the machine, and folders that only their owner can read. */
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
  if (firstMade === undefined) return
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) await syncFolder(dirname(made))
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
