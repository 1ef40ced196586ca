/**
 * Layout of the blob folder:
 *
 * - `content/<key>`: a file, or a link to `<key>~/<name>`, a folder with the parts of a joined blob. No key contains a `~`,
 *   so that such a folder never collides with a key.
 * - `parts/<name>/<number>`: parts that are not joined yet. They survive a restart.
 * - `drafts/`: files being written or removed. Emptied at start.
 */
import { randomUUID } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { makeFolderSync } from "./Durable.ts"

export interface Places {
  readonly content: string
  readonly parts: string
  readonly drafts: string
}

export const openPlaces = async (dir: string): Promise<Places> => {
  const places = { content: join(dir, "content"), parts: join(dir, "parts"), drafts: join(dir, "drafts") }
  for (const folder of [places.content, places.parts, places.drafts]) makeFolderSync(folder)
  for (const draft of await readdir(places.drafts)) {
    await rm(join(places.drafts, draft), { recursive: true, force: true })
  }
  return places
}

/** Returns a path for a file that the next start removes unless it was moved before. */
export const draftPath = ({ drafts }: Places): string => join(drafts, randomUUID())

/** Keys consist of ids and fixed names. Any other key is a programming error, and must not escape the folder. */
export const contentPath = ({ content }: Places, key: string): string => {
  if (!isKey(key)) throw new Error(`${key} is no key of a blob`)
  return join(content, key)
}

const isKey = (key: string): boolean =>
  key.length <= 512 && key.split("/").every((segment) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(segment))

/** Returns the folder of the joined folders of a key. */
export const joinedPath = (places: Places, key: string): string => `${contentPath(places, key)}~`

export const newPartsName = (): string => randomUUID()

export const partsPath = ({ parts }: Places, name: string): string => {
  if (!/^[0-9a-f-]{36}$/.test(name)) throw new Error(`${name} is no name of parts`)
  return join(parts, name)
}

export const partFile = (folder: string, number: number): string => {
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`${number} is no number of a part`)
  return join(folder, String(number))
}
