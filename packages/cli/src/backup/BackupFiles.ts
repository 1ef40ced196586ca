/** Files of backups: copied and compared with their checksums. */
import { createHash } from "node:crypto"
import { mkdir, open, opendir, readlink, rm, symlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { BackupError } from "./BackupError.ts"
import { type Entry, type FileEntry, manifestName, requireBlobLink } from "./BackupManifest.ts"

/** Computes size and SHA-256 of a file. Passes each chunk to `use` first. */
const readThrough = async (
  file: string,
  use: (bytes: Uint8Array) => Promise<void> = async () => undefined
): Promise<Omit<FileEntry, "path">> => {
  const hash = createHash("sha256")
  let size = 0
  for await (const bytes of chunks(file)) {
    await use(bytes)
    hash.update(bytes)
    size += bytes.length
  }
  return { size, sha256: hash.digest("hex") }
}

const chunkBytes = 256 * 1024

/** Yields the bytes of a file. Every chunk is in the same buffer. */
async function* chunks(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file, "r")
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

export const describeFile = async (folder: string, path: string): Promise<FileEntry> => ({
  path,
  ...(await readThrough(join(folder, path)))
})

/** Lists all files and links below a folder, except its manifest. */
export async function* describeAll(folder: string, below = ""): AsyncGenerator<Entry> {
  for await (const entry of await opendir(join(folder, below))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) yield* describeAll(folder, path)
    else if (entry.isSymbolicLink()) {
      const link = await readlink(join(folder, path))
      requireBlobLink(path, link)
      yield { path, link }
    } else if (!path.startsWith(manifestName)) yield await describeFile(folder, path)
  }
}

/** Fails if the entry of a backup is missing or has other bytes than the manifest says. */
export const verifyEntry = async (folder: string, entry: Entry): Promise<void> => {
  if ("folder" in entry) return
  if ("link" in entry) {
    const link = await readlink(join(folder, entry.path)).catch((error: unknown) => failMissing(entry, error))
    if (link !== entry.link) throw differs(entry)
    return
  }
  const found = await readThrough(join(folder, entry.path)).catch((error: unknown) => failMissing(entry, error))
  requireEqual(entry, found)
}

/** Copies an entry durably to another folder, under another path if given. Fails as `verifyEntry`. */
export const copyEntry = async (folder: string, entry: Entry, target: string, path = entry.path): Promise<void> => {
  const copy = join(target, path)
  await mkdir("folder" in entry ? copy : dirname(copy), { recursive: true, mode: 0o700 })
  if ("folder" in entry) return
  if ("link" in entry) return symlink(entry.link, copy)
  const handle = await open(copy, "wx", 0o600)
  try {
    const found = await readThrough(join(folder, entry.path), (bytes) => handle.writeFile(bytes)).catch(
      (error: unknown) => failMissing(entry, error)
    )
    requireEqual(entry, found)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Creates the folder if it does not exist. Fails if it contains anything. */
export const requireEmpty = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for await (const { name } of await opendir(folder)) {
    throw new BackupError(`${folder} is not empty: it contains ${name}`, "choose a new folder")
  }
}

/** Empties a folder that was empty before, after a failure. */
export const emptyFolder = async (folder: string): Promise<void> => {
  for await (const { name } of await opendir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}

const requireEqual = (expected: FileEntry, found: Omit<FileEntry, "path">): void => {
  if (found.size !== expected.size || found.sha256 !== expected.sha256) throw differs(expected)
}

const differs = ({ path }: Entry): BackupError =>
  new BackupError(`${path} of the backup is damaged: its bytes differ from the manifest`, otherBackup)

const failMissing = ({ path }: Entry, error: unknown): never => {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT"
  throw isMissing ? new BackupError(`${path} of the backup is missing`, otherBackup) : error
}

const otherBackup = "use another backup"
