/**
 * A copy of the blobs of a running server, for backups. `Places.ts` describes the folder.
 *
 * Blobs never change, because every version has a key of its own. So a copied blob is not read again.
 */
import { createHash } from "node:crypto"
import { constants, type Dirent } from "node:fs"
import { mkdir, open, opendir, readlink, rm, stat, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { orNull, ownerOnly, syncFolder } from "./Durable.ts"
import { readManifest } from "./Manifest.ts"

/** A copied file, link or folder. `path` is relative to the folder of blobs. */
export type CopiedEntry = { readonly path: string } & (
  | { readonly size: number; readonly sha256: string }
  | { readonly link: string }
  | { readonly folder: true }
)

/** Blobs that the records of a database name. */
export interface NamedBlobs {
  readonly blobKeys: ReadonlyArray<string>
  readonly partNames: ReadonlyArray<string>
}

export interface BlobCopyOptions {
  readonly dir: string
  readonly target: string
  /** True for keys that are not copied. */
  readonly skips: (key: string) => boolean
}

export interface BlobCopy {
  /** Copies blobs and parts that the last call did not find. Those that disappear meanwhile are ignored. */
  readonly copyNew: () => Promise<void>
  /** Returns the keys of this list without a complete copy. */
  readonly findMissing: (keys: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>
  /** Removes all copies that are not named, and syncs the folders of the others. */
  readonly keepOnly: (named: NamedBlobs) => Promise<void>
  readonly entries: () => ReadonlyArray<CopiedEntry>
}

/** Maximum files that are copied concurrently. */
const copiesMax = 8

export const blobCopy = ({ dir, target, skips }: BlobCopyOptions): BlobCopy => {
  const copied = new Map<string, Copied>()

  const copyOne = async ({ path, entry }: Found): Promise<void> => {
    const copy = await copyEntry(join(dir, path), join(target, path), entry)
    if (copy !== null) copied.set(path, { ...copy, path })
  }

  /** Only the parts of uploads are replaced under their name. */
  const isCopied = async ({ path, entry }: Found): Promise<boolean> => {
    const known = copied.get(path)
    if (known === undefined) return false
    if (!path.startsWith("parts/") || !entry.isFile()) return true
    return (await orNull(stat(join(dir, path))))?.mtimeMs === known.mtimeMs
  }

  const isComplete = async (key: string): Promise<boolean> => {
    const path = `content/${key}`
    const entry = copied.get(path)
    if (entry === undefined || !("link" in entry)) return entry !== undefined
    const folder = join(dirname(path), entry.link)
    const manifest = await orNull(readManifest(join(target, folder)))
    return manifest?.parts.every(([number]) => copied.has(join(folder, String(number)))) ?? false
  }

  return {
    copyNew: async () => {
      let batch: Array<Found> = []
      for await (const found of walkAll(dir)) {
        if (skips(keyOf(found.path)) || (await isCopied(found))) continue
        batch.push(found)
        if (batch.length < copiesMax) continue
        await Promise.all(batch.map(copyOne))
        batch = []
      }
      await Promise.all(batch.map(copyOne))
    },

    findMissing: async (keys) => {
      const missing: Array<string> = []
      for (const key of keys) if (!(await isComplete(key))) missing.push(key)
      return missing
    },

    keepOnly: async ({ blobKeys, partNames }) => {
      const named = new Set([...blobKeys, ...partNames])
      for (const path of copied.keys()) {
        if (named.has(keyOf(path))) continue
        copied.delete(path)
        await rm(join(target, path), { recursive: true, force: true })
      }
      for (const folder of new Set([...copied.keys()].map((path) => dirname(path))))
        await syncFolder(join(target, folder))
    },

    entries: () => [...copied.values()].map(({ mtimeMs: _, ...entry }) => entry)
  }
}

type Copied = CopiedEntry & { readonly mtimeMs: number }

interface Found {
  readonly path: string
  readonly entry: Dirent
}

/** Returns the key of a blob, or the name of an upload's parts, to which the path belongs. */
const keyOf = (path: string): string => {
  const [top = "", ...rest] = path.split("/")
  if (top === "parts") return rest[0] ?? ""
  const end = rest.findIndex((segment) => segment.endsWith("~"))
  return end === -1
    ? rest.join("/")
    : rest
        .slice(0, end + 1)
        .join("/")
        .slice(0, -1)
}

async function* walkAll(dir: string): AsyncGenerator<Found> {
  yield* walk(dir, "content")
  yield* walk(dir, "parts")
}

/** Lists files and links, and the folders of uploads, which may be empty. */
async function* walk(dir: string, folder: string): AsyncGenerator<Found> {
  const listing = await orNull(opendir(join(dir, folder)))
  if (listing === null) return
  for await (const entry of listing) {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory() || folder === "parts") yield { path, entry }
    if (entry.isDirectory()) yield* walk(dir, path)
  }
}

/** Returns null if the entry is gone. */
const copyEntry = async (source: string, target: string, entry: Dirent) => {
  const isFolder = entry.isDirectory()
  await mkdir(isFolder ? target : dirname(target), { recursive: true, mode: ownerOnly.folder })
  if (isFolder) return { folder: true, mtimeMs: 0 } as const
  if (!entry.isSymbolicLink()) return copyFile(source, target)
  const link = await orNull(readlink(source))
  if (link === null) return null
  await rm(target, { force: true })
  await symlink(link, target)
  return { link, mtimeMs: 0 }
}

const bufferBytes = 256 * 1024

/** Copies a file durably and computes the SHA-256 of its bytes. Returns null if it is gone. */
const copyFile = async (source: string, target: string) => {
  const from = await orNull(open(source, constants.O_RDONLY | constants.O_NOFOLLOW))
  if (from === null) return null
  try {
    const { mtimeMs } = await from.stat()
    const to = await open(target, "w", ownerOnly.file)
    try {
      const hash = createHash("sha256")
      const buffer = Buffer.allocUnsafe(bufferBytes)
      let size = 0
      for (;;) {
        const { bytesRead } = await from.read(buffer, 0, bufferBytes, null)
        if (bytesRead === 0) break
        const bytes = buffer.subarray(0, bytesRead)
        hash.update(bytes)
        await to.writeFile(bytes)
        size += bytesRead
      }
      await to.sync()
      return { size, sha256: hash.digest("hex"), mtimeMs }
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}
