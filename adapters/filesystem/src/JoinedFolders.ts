/**
 * Folders of joined blobs, and who is reading them.
 *
 * A folder that nothing links to any more is moved among the drafts at once, so that a crash leaves nothing, but is
 * removed only when nobody reads it: who reads many parts opens them one after the other.
 */
import { rename, rm } from "node:fs/promises"
import { isAbsence } from "./Durable.ts"

export interface ReadFolder {
  /** Does something with the path of the folder, again where the folder was moved meanwhile. */
  readonly at: <A>(use: (path: string) => Promise<A>) => Promise<A>
  /** To be called once. */
  readonly leave: () => void
}

export interface JoinedFolders {
  readonly enter: (path: string) => ReadFolder
  /** Moves the folder to the draft's path, and removes it there when the last reader leaves. */
  readonly discard: (path: string, draft: string) => Promise<void>
}

interface Entry {
  path: string
  readers: number
  /** A move that is under way. */
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
    // Nobody waits for it, and what is left of it goes at the next start.
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
