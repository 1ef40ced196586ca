/**
 * Places and removes the content of a key. Every change is one rename of the key's name; the replaced content is removed
 * afterwards. Each operation is safe to repeat after a crash.
 */
import { lstat, opendir, readdir, readlink, rename, rmdir, symlink, unlink } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { makeFolder, orNull, syncFolder } from "./Durable.ts"
import type { JoinedFolders } from "./JoinedFolders.ts"
import { contentPath, draftPath, joinedPath, type Places } from "./Places.ts"

/** True if the folder and its subfolders contain nothing but folders. Stops at the first file. */
export const isEmptyTree = async (folder: string): Promise<boolean> => {
  for await (const entry of await opendir(folder)) {
    if (!entry.isDirectory() || !(await isEmptyTree(join(folder, entry.name)))) return false
  }
  return true
}

/** Moves the draft to the key. */
export const placeFile = async (places: Places, joined: JoinedFolders, key: string, draft: string): Promise<void> => {
  const file = contentPath(places, key)
  await moveInto(draft, file)
  await syncFolder(dirname(file))
  await discardOthers(places, joined, key, null)
}

/** Renames first and creates the folder on failure: the folder mostly exists, and a check costs a system call per file. */
const moveInto = async (draft: string, file: string): Promise<void> => {
  const isMoved = await orNull(rename(draft, file).then(() => true))
  if (isMoved) return
  await makeFolder(dirname(file))
  await rename(draft, file)
}

/** Moves the folder of parts to the key, as the joined blob of this name. */
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

/** Completes `placeFolder`: links the key to the folder. */
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

/** Returns the folder that the key links to, or null. */
export const linkedFolder = async (places: Places, key: string): Promise<string | null> => {
  const file = contentPath(places, key)
  const target = await orNull(readlink(file).catch(nullForNoLink))
  return target === null ? null : join(dirname(file), target)
}

/** True if the key has a plain file rather than a link. */
export const isPlain = async (places: Places, key: string): Promise<boolean> =>
  (await orNull(lstat(contentPath(places, key))))?.isFile() ?? false

const nullForNoLink = (error: unknown): null => {
  if (error instanceof Error && "code" in error && error.code === "EINVAL") return null
  throw error
}

/** Returns the joined folders of the key, except the one of this name. */
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
