/**
 * What is under a key, and how it is changed: always by one rename of the key's name, after which what was there
 * before is removed. Each is safe to repeat after a crash in its middle.
 */
import { lstat, readdir, readlink, rename, rmdir, symlink, unlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { makeFolder, orNull, syncFolder } from "./Durable.ts"
import type { JoinedFolders } from "./JoinedFolders.ts"
import { contentPath, draftPath, joinedPath, type Places } from "./Places.ts"

/** Puts the file at `draft` under the key. */
export const placeFile = async (places: Places, joined: JoinedFolders, key: string, draft: string): Promise<void> => {
  const file = contentPath(places, key)
  await moveInto(draft, file)
  await syncFolder(dirname(file))
  await discardOthers(places, joined, key, null)
}

/** Mostly the folder is there: looking first would be one more call of the system for each file. */
const moveInto = async (draft: string, file: string): Promise<void> => {
  const isMoved = await orNull(rename(draft, file).then(() => true))
  if (isMoved) return
  await makeFolder(dirname(file))
  await rename(draft, file)
}

/** Puts the folder at `parts` under the key, as the joined blob of this name. */
export const placeFolder = async (
  places: Places,
  joined: JoinedFolders,
  key: string,
  name: string,
  parts: string
): Promise<void> => {
  const folders = joinedPath(places, key)
  await makeFolder(folders)
  await rename(parts, join(folders, name))
  await syncFolder(folders)
  await linkFolder(places, joined, key, name)
}

/** The second half of `placeFolder`. */
export const linkFolder = async (places: Places, joined: JoinedFolders, key: string, name: string): Promise<void> => {
  const file = contentPath(places, key)
  const draft = draftPath(places)
  await symlink(join(`${basename(file)}~`, name), draft)
  await rename(draft, file)
  await syncFolder(dirname(file))
  await discardOthers(places, joined, key, name)
}

export const removeContent = async (places: Places, joined: JoinedFolders, key: string): Promise<void> => {
  const file = contentPath(places, key)
  await orNull(unlink(file))
  await discardOthers(places, joined, key, null)
}

/** The folder that the key links to; null when there is none. */
export const linkedFolder = async (places: Places, key: string): Promise<string | null> => {
  const file = contentPath(places, key)
  const target = await orNull(readlink(file).catch(nullForNoLink))
  return target === null ? null : join(dirname(file), target)
}

/** Whether the key has a file of its own, and not a link. */
export const isPlain = async (places: Places, key: string): Promise<boolean> =>
  (await orNull(lstat(contentPath(places, key))))?.isFile() ?? false

const nullForNoLink = (error: unknown): null => {
  if (error instanceof Error && "code" in error && error.code === "EINVAL") return null
  throw error
}

/** Folders that were joined under the key, other than the one of this name. */
const discardOthers = async (
  places: Places,
  joined: JoinedFolders,
  key: string,
  name: string | null
): Promise<void> => {
  const folders = joinedPath(places, key)
  const names = await orNull(readdir(folders))
  if (names === null) return
  for (const other of names) if (other !== name) await joined.discard(join(folders, other), draftPath(places))
  if (name === null) await orNull(rmdir(folders))
}
