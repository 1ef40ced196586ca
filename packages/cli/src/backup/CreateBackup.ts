/** Backs up a SQLite file and a folder of blobs while their server runs. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { type BlobCopy, blobCopy } from "@weft/filesystem"
import { copyDatabase, type DatabaseContents } from "@weft/sqlite"
import { BackupError } from "./BackupError.ts"
import { describeAll, describeFile, emptyFolder, requireEmpty } from "./BackupFiles.ts"
import { type Entry, writeManifest } from "./BackupManifest.ts"

export const databaseName = "weft.db"
const blobsName = "blobs"

export interface BackupOptions {
  /** The new backup. Must be empty if it exists. */
  readonly folder: string
  readonly database: string
  /** Null if the blobs are in a bucket. */
  readonly blobs: string | null
  readonly version: string
}

export interface BackupResult {
  readonly files: number
  readonly bytes: number
  readonly schemaStep: number
  readonly keyIds: ReadonlyArray<string>
  /** Keys of blobs that the database names but the server does not have. */
  readonly lost: ReadonlyArray<string>
}

/** Maximum copies of the database until all of its blobs are in the backup. */
const attemptsMax = 4

/** Interval between passes over the blobs while the database is copied, in milliseconds. The server keeps blobs for 60 s. */
const passMs = 5_000

/** Rejects with `BackupError`, or with the error of the system. The folder is then empty again. */
export const createBackup = async (options: BackupOptions): Promise<BackupResult> => {
  const { folder, version } = options
  await requireEmpty(folder)
  try {
    const { contents, blobs, lost } = await copyAll(options)
    const entries: ReadonlyArray<Entry> = [
      await describeFile(folder, databaseName),
      ...blobs.map((entry) => ({ ...entry, path: `${blobsName}/${entry.path}` }))
    ]
    const { schemaStep, keyIds } = contents
    const created_at = new Date().toISOString()
    await writeManifest(
      folder,
      { weft_backup: 1, created_at, version, schema_step: schemaStep, key_ids: keyIds },
      entries
    )
    const bytes = entries.reduce((sum, entry) => sum + ("size" in entry ? entry.size : 0), 0)
    return { files: entries.length, bytes, schemaStep, keyIds, lost }
  } catch (error) {
    await emptyFolder(folder)
    throw error
  }
}

/** Writes the manifest of a folder that other programs have filled. Returns the number of its entries. */
export const describeBackup = async (folder: string, version: string): Promise<number> => {
  let files = 0
  const counted = async function* () {
    for await (const entry of describeAll(folder)) {
      files++
      yield entry
    }
  }
  const created_at = new Date().toISOString()
  await writeManifest(folder, { weft_backup: 1, created_at, version, schema_step: null, key_ids: [] }, counted())
  return files
}

/**
 * Copies the blobs, the database, and the blobs again. The server writes bytes before their record, and keeps them for a
 * minute after it. So the copies have every blob that the copied database names, and this is checked. If a blob is missing,
 * the database is copied again. A blob that is still missing is lost on the server as well.
 */
const copyAll = async ({ folder, database, blobs: dir }: BackupOptions) => {
  const copy = join(folder, databaseName)
  if (dir === null) return { contents: await copyDatabase(database, copy), blobs: [], lost: [] }
  const blobs = blobCopy({ dir, target: join(folder, blobsName), skips: isCompiled })
  await blobs.copyNew()
  let before: ReadonlySet<string> | null = null
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const contents = await whilePassing(copyDatabase(database, copy), blobs)
    await blobs.copyNew()
    const missing = await blobs.findMissing(contents.blobKeys)
    if (missing.every((key) => before?.has(key))) {
      await blobs.keepOnly(contents)
      return { contents, blobs: blobs.entries(), lost: missing }
    }
    before = new Set(missing)
    await rm(copy)
  }
  throw new BackupError(
    "Blobs disappear faster than they are copied",
    "repeat the backup at a quieter time, or take a snapshot of the disk"
  )
}

/** Compiled builds are a cache. Servers compile them again. */
const isCompiled = (key: string): boolean => key.endsWith(".artifact")

/** Copies new blobs repeatedly until the copy of the database has ended. */
const whilePassing = async (copying: Promise<DatabaseContents>, blobs: BlobCopy): Promise<DatabaseContents> => {
  let isDone = false
  const end = (): void => {
    isDone = true
  }
  const ended = copying.then(end, end)
  while (!isDone) {
    await Promise.race([ended, setTimeout(passMs, undefined, { ref: false })])
    if (!isDone) await blobs.copyNew()
  }
  return copying
}
