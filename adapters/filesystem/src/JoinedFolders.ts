/**
 * Folders of joined blobs, with their readers.
 *
 * A folder without a link is moved to the drafts at once, so that a crash leaves nothing behind. It is removed when its last
 * reader has finished, because a reader opens the parts one after the other.
 */
import { rename, rm } from "node:fs/promises"
import { isAbsence } from "./Durable.ts"

export interface ReadFolder {
  /** Runs with the path of the folder, and again if the folder was moved meanwhile. */
  readonly at: <A>(use: (path: string) => Promise<A>) => Promise<A>
  /** Ends the reader. Call it once. */
  readonly leave: () => void
}

export interface JoinedFolders {
  readonly enter: (path: string) => ReadFolder
  /** Moves the folder to the draft's path, and removes it there after its last reader. */
  readonly discard: (path: string, draft: string) => Promise<void>
}

interface Entry {
  path: string
  readers: number
  /** A move in progress. */
  moving: Promise<unknown> | null
  isDiscarded: boolean
}

export const makeJoinedFolders = (): JoinedFolders => {
  const entries = new Map<string, Entry>()

  const entryOf = (path: string): Entry => {
    const entry = entries.get(path) ?? { path, readers: 0, moving: null, isDiscarded: false }
    entries.set(path, entry)
    return entry
  }
  const leave = (path: string, entry: Entry): void => {
    entry.readers--
    if (entry.readers > 0 || entry.moving !== null) return
    // Nothing waits for the removal; the next start removes the rest.
    if (entry.isDiscarded) rm(entry.path, { recursive: true, force: true }).catch(() => undefined)
    else entries.delete(path)
  }

  return {
    enter: (path) => {
      const entry = entryOf(path)
      entry.readers++
      return { at: (use) => following(entry, use), leave: () => leave(path, entry) }
    },
    discard: async (path, draft) => {
      const entry = entryOf(path)
      const move = rename(path, draft).then(() => {
        entries.delete(path)
        entry.path = draft
        entry.isDiscarded = true
      })
      entry.moving = move.catch(() => undefined)
      try {
        await move
      } finally {
        entry.moving = null
        if (entry.readers === 0) entries.delete(path)
      }
      if (entry.readers === 0) await rm(draft, { recursive: true, force: true })
    }
  }
}

const following = async <A>(entry: Entry, use: (path: string) => Promise<A>): Promise<A> => {
  const before = entry.path
  try {
    return await use(before)
  } catch (error) {
    if (!isAbsence(error)) throw error
    await entry.moving
    if (entry.path === before) throw error
    return use(entry.path)
  }
}
