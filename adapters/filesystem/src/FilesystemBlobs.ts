/**
 * Blobs as files of a folder, readable by its owner only.
 *
 * A put writes a draft beside the others, syncs it, and renames it into place, so that a reader or a crash meets
 * the old bytes or the new ones. Drafts that a crash left are removed at the next start.
 */
import { randomUUID } from "node:crypto"
import { mkdir, open, readdir, readFile, rename, rm, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { BlobStore, NotFound, StoreUnavailable } from "@weft/core"
import { Effect, Layer, Schema } from "effect"

export interface FilesystemOptions {
  /** Made with its parents where it is missing. One process at a time. */
  readonly dir: string
}

/** The folder cannot be made or written. For the person who configured it, at start. */
export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  dir: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The folder ${this.dir} cannot be used for blobs: ${reason}`
  }
}

const ownerOnly = { folder: 0o700, file: 0o600 }

export const blobs = ({ dir }: FilesystemOptions): Layer.Layer<BlobStore, FolderUnusable> => {
  const content = join(dir, "content")
  const drafts = join(dir, "drafts")

  return Layer.effect(
    BlobStore,
    Effect.gen(function* () {
      yield* Effect.tryPromise({
        try: () => openFolders(content, drafts),
        catch: (cause) => new FolderUnusable({ dir, cause })
      })
      const fileOf = (key: string) =>
        isKey(key) ? Effect.succeed(join(content, key)) : Effect.die(new Error(`${key} is no key of a blob`))
      const attempt = <A>(operation: string, run: () => Promise<A>) =>
        Effect.tryPromise({ try: run, catch: (cause) => new StoreUnavailable({ operation, cause }) })

      return BlobStore.of({
        backend: "filesystem",

        put: (key, bytes) =>
          Effect.flatMap(fileOf(key), (file) =>
            // A rename that is under way cannot be taken back, so the whole of it is done or none is begun.
            Effect.uninterruptible(attempt("put", () => replace(file, join(drafts, randomUUID()), bytes)))
          ),

        get: (key) =>
          Effect.flatMap(fileOf(key), (file) => attempt("get", () => readOrNull(file))).pipe(
            Effect.flatMap((bytes) =>
              bytes === null ? Effect.fail(new NotFound({ resource: "blob" })) : Effect.succeed(bytes)
            )
          ),

        remove: (key) => Effect.flatMap(fileOf(key), (file) => attempt("remove", () => removeFile(file)))
      })
    })
  )
}

const openFolders = async (content: string, drafts: string): Promise<void> => {
  await mkdir(content, { recursive: true, mode: ownerOnly.folder })
  await mkdir(drafts, { recursive: true, mode: ownerOnly.folder })
  for (const draft of await readdir(drafts)) await rm(join(drafts, draft), { recursive: true, force: true })
}

/** Keys are made by us, of ids and fixed names; anything else is a mistake of ours, and must not leave the folder. */
const isKey = (key: string): boolean =>
  key.length <= 512 && key.split("/").every((segment) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(segment))

const replace = async (file: string, draft: string, bytes: Uint8Array): Promise<void> => {
  const folder = dirname(file)
  const firstMade = await mkdir(folder, { recursive: true, mode: ownerOnly.folder })
  try {
    const handle = await open(draft, "wx", ownerOnly.file)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  await syncFolder(folder)
  if (firstMade === undefined) return
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) await syncFolder(dirname(made))
}

/** A new name, of a file or of a folder, is durable only when the folder that it stands in is. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const readOrNull = async (file: string): Promise<Uint8Array | null> => {
  try {
    return new Uint8Array(await readFile(file))
  } catch (error) {
    if (isAbsence(error)) return null
    throw error
  }
}

const removeFile = async (file: string): Promise<void> => {
  try {
    await unlink(file)
  } catch (error) {
    if (!isAbsence(error)) throw error
  }
}

/** There is nothing, a folder of other keys, or a file where the key has a folder. */
const isAbsence = (error: unknown): boolean =>
  error instanceof Error && "code" in error && absences.has(String(error.code))

const absences = new Set(["ENOENT", "EISDIR", "ENOTDIR"])
