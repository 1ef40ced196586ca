/** Restores a backup into an empty data directory, and verifies backups. */
import { chmod, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { MasterKeys } from "@weft/core"
import { Keyring } from "@weft/core/adapter"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { BackupError } from "./BackupError.ts"
import { copyEntry, emptyFolder, requireEmpty, verifyEntry } from "./BackupFiles.ts"
import { type Entry, type Header, readEntries, readHeader, syncFolder } from "./BackupManifest.ts"
import { databaseName } from "./CreateBackup.ts"

export interface RestoreOptions {
  readonly folder: string
  /** The new data directory. Must be empty if it exists. */
  readonly data: string
  /** File of the master key, which is copied to the data directory; null if the server gets it otherwise. */
  readonly keyFile: string | null
  /** Master keys as Base64 text, the current one first, if there is no file. */
  readonly keys: ReadonlyArray<string>
  /** Ids of master keys that are lost: their secrets stay unreadable. */
  readonly lostKeys: ReadonlyArray<string>
}

export interface VerifiedBackup {
  readonly header: Header
  readonly files: number
  readonly bytes: number
}

/** Reads the whole backup. Rejects with `BackupError` for the first damaged or missing file. */
export const verifyBackup = async (folder: string): Promise<VerifiedBackup> =>
  forEachEntry(folder, (entry) => verifyEntry(folder, entry))

/**
 * Copies a backup into the data directory of a server, and verifies it meanwhile. The database comes last, so no server
 * starts on an incomplete copy. After a failure the directory is empty again.
 */
export const restoreBackup = async (options: RestoreOptions): Promise<VerifiedBackup> => {
  const { folder, data } = options
  const header = await readHeader(folder)
  if (header.schema_step === null) {
    throw new BackupError(
      `${folder} has no SQLite database`,
      "verify it with `weft backup verify`, and restore its dump with pg_restore"
    )
  }
  const key = await readKeys(options)
  await requireKeys(header, key.texts, options.lostKeys)
  await requireEmpty(data)
  try {
    const restored = await forEachEntry(folder, (entry) => copyEntry(folder, entry, data, draftPath(entry.path)))
    if (key.file !== null) await writeKey(join(data, "master.key"), key.file)
    await rename(join(data, draftPath(databaseName)), join(data, databaseName))
    await syncFolder(data)
    return restored
  } catch (error) {
    await emptyFolder(data)
    throw error
  }
}

const draftPath = (path: string): string => (path === databaseName ? `${databaseName}.restoring` : path)

/** Maximum files that are read concurrently. */
const concurrentMax = 8

const forEachEntry = async (folder: string, use: (entry: Entry) => Promise<void>): Promise<VerifiedBackup> => {
  const header = await readHeader(folder)
  let [files, bytes] = [0, 0]
  let batch: Array<Entry> = []
  for await (const entry of readEntries(folder)) {
    files++
    if ("size" in entry) bytes += entry.size
    batch.push(entry)
    if (batch.length < concurrentMax) continue
    await useAll(batch, use)
    batch = []
  }
  await useAll(batch, use)
  return { header, files, bytes }
}

/** Waits for all, also after a failure, so that nothing is written afterwards. */
const useAll = async (batch: ReadonlyArray<Entry>, use: (entry: Entry) => Promise<void>): Promise<void> => {
  for (const result of await Promise.allSettled(batch.map(use))) {
    if (result.status === "rejected") throw result.reason
  }
}

/** Returns the given keys, and the text of the key file. */
const readKeys = async ({ keyFile, keys }: RestoreOptions) => {
  if (keyFile !== null) {
    const text = (await readFile(keyFile, "utf8")).trim()
    return { texts: [text], file: text }
  }
  if (keys.length > 0) return { texts: keys, file: null }
  throw new BackupError(
    "The master key of the backup is not given",
    "use --master-key with its file, or set WEFT_MASTER_KEY as for the server"
  )
}

const requireKeys = async (
  { key_ids }: Header,
  texts: ReadonlyArray<string>,
  lost: ReadonlyArray<string>
): Promise<void> => {
  const [first, ...former] = texts.map(parseKey)
  if (first === undefined) return
  const { keyId, keyIds } = await readIds([first, ...former])
  const missing = key_ids.find((id) => !keyIds.has(id) && !lost.includes(id))
  if (missing === undefined) return
  throw new BackupError(
    `The secrets of this backup need the master key with the id ${missing}, but the given one has the id ${keyId}`,
    `give that key, or accept that these secrets stay unreadable: --lost-key ${missing}`
  )
}

const readIds = (keys: MasterKeys) =>
  Effect.runPromise(
    Effect.provide(Keyring, Layer.provide(Keyring.layer(keys), SecureRandom.layerWebCrypto)).pipe(
      Effect.map(({ keyId, keyIds }) => ({ keyId, keyIds }))
    )
  )

const parseKey = (text: string): Redacted.Redacted<Uint8Array> => {
  const bytes = Buffer.from(text, "base64")
  if (bytes.length === 32) return Redacted.make(new Uint8Array(bytes))
  throw new BackupError("A master key must be 32 bytes in Base64")
}

const writeKey = async (file: string, text: string): Promise<void> => {
  await writeFile(file, `${text}\n`, { mode: 0o600, flush: true })
  await chmod(file, 0o600)
}
