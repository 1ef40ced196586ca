/**
 * The manifest of a backup, a file with one JSON document per line: a header, an entry for each file, and the number of
 * entries. It is written last, so a folder without one is no complete backup. No line contains a secret or a key.
 */
import { createReadStream, existsSync } from "node:fs"
import { open, rename } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Result, Schema } from "effect"
import { BackupError } from "./BackupError.ts"

export const manifestName = "manifest.ndjson"

const Header = Schema.Struct({
  /** Version of the format. */
  weft_backup: Schema.Literal(1),
  created_at: Schema.String,
  /** Release of the command line that made the backup. */
  version: Schema.String,
  /** Number of the latest migration step of the database; null if another program dumped it. */
  schema_step: Schema.NullOr(Schema.Int),
  /** Ids of the master keys that encrypted its secrets. */
  key_ids: Schema.Array(Schema.String)
})
export type Header = typeof Header.Type

/** A relative path without `.` and `..`, so that no entry leaves the folder. */
const Path = Schema.String.check(
  Schema.makeFilter((path) =>
    path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..") && !path.includes("\0")
      ? undefined
      : "must be a path within the backup"
  )
)

/** The target of a link: parts of a joined blob, next to it (`Places.ts` of `@weft/filesystem`). */
const linkForm = /^[\w.-]+~\/[0-9a-f-]{36}$/

const Link = Schema.String.check(Schema.isPattern(linkForm))

/** Fails for a link that a manifest may not have, because it leads elsewhere. */
export const requireBlobLink = (path: string, link: string): void => {
  if (!linkForm.test(link)) throw new BackupError(`${path} is a link to ${link}`, "replace it by the file")
}

const FileEntry = Schema.Struct({ path: Path, size: Schema.Int, sha256: Schema.String })
const Entry = Schema.Union([
  FileEntry,
  Schema.Struct({ path: Path, link: Link }),
  Schema.Struct({ path: Path, folder: Schema.Literal(true) })
])
export type Entry = typeof Entry.Type
export type FileEntry = typeof FileEntry.Type

const Footer = Schema.Struct({ entries: Schema.Int })

const decodeHeader = Schema.decodeUnknownResult(Schema.fromJsonString(Header))
const decodeLine = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Union([Entry, Footer])))

/** Writes the manifest, durable when it resolves. */
export const writeManifest = async (
  folder: string,
  header: Header,
  entries: Iterable<Entry> | AsyncIterable<Entry>
): Promise<void> => {
  const draft = join(folder, `${manifestName}.tmp`)
  const handle = await open(draft, "w", 0o600)
  try {
    let count = 0
    await handle.writeFile(`${JSON.stringify(header)}\n`)
    for await (const entry of entries) {
      await handle.writeFile(`${JSON.stringify(entry)}\n`)
      count++
    }
    await handle.writeFile(`${JSON.stringify({ entries: count })}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, join(folder, manifestName))
  await syncFolder(folder)
}

export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export const readHeader = async (folder: string): Promise<Header> => {
  for await (const line of lines(folder)) {
    return Result.getOrThrowWith(decodeHeader(line), () => damaged(folder, 1))
  }
  throw damaged(folder, 1)
}

/** Yields all entries. Fails at the end if some are missing. */
export async function* readEntries(folder: string): AsyncGenerator<Entry> {
  let number = 0
  let isComplete = false
  for await (const line of lines(folder)) {
    number++
    if (number === 1) continue
    const decoded = Result.getOrThrowWith(decodeLine(line), () => damaged(folder, number))
    if ("path" in decoded) yield decoded
    else isComplete = decoded.entries === number - 2
  }
  if (!isComplete) throw damaged(folder, number)
}

const lines = (folder: string): AsyncIterable<string> => {
  const file = join(folder, manifestName)
  if (!existsSync(file)) {
    throw new BackupError(
      `${folder} has no ${manifestName}: it is no backup, or its backup was interrupted`,
      "use another backup"
    )
  }
  return createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
}

const damaged = (folder: string, line: number): BackupError =>
  new BackupError(`${join(folder, manifestName)} is damaged at line ${line}`, "use another backup")
