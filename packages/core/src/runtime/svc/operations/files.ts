/**
 * `svc.files`: the files of the environment.
 *
 * A file that does not fit into one call is begun and written, with `length` bytes (null if unknown). It exists once the
 * last write has returned, and not if the run ends before.
 */
import { Effect, Schema, Stream } from "effect"
import { KeyedSemaphore } from "../../../foundation/KeyedSemaphore.ts"
import { iso } from "../../../foundation/time/Timestamp.ts"
import { HostCallRefused } from "../../../platform/sandbox/Sandbox.ts"
import type { File } from "../../../resources/files/File.ts"
import { FileLinks } from "../../../resources/files/FileLinks.ts"
import { Files, type NewFile, orNull } from "../../../resources/files/Files.ts"
import type { Run } from "../../runs/Run.ts"
import { decodeBytes, GuestId, Length, Piece, PieceRequest } from "../Bytes.ts"
import { contentOpener } from "../Contents.ts"
import { endOperation } from "../endOperation.ts"
import { FileUpload, fileUploads } from "../FileUpload.ts"
import { ofEnvironment, ofRun, operation, refuse, textOperation } from "../Operation.ts"

const Path = { path: Schema.String }
const NewContent = { ...Path, content_type: Schema.String }

const StoredFile = Schema.Struct({
  file_id: Schema.String,
  path: Schema.String,
  size: Schema.Int,
  etag: Schema.String,
  content_type: Schema.String,
  created_by_run_id: Schema.NullOr(Schema.String),
  updated_by_run_id: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  updated_at: Schema.String
})

/** Reason for all operations of this file. */
const guest = { handWritten: "bytes and streams in pieces, pages of a list, and errors of the platform" }

const makeStore = Effect.map(
  Files,
  (files) => (run: Run, input: Omit<NewFile<never>, "runId">) => files.upload({ ...input, runId: run.run_id })
)

/**
 * Maximum concurrent `files.put` calls of an environment; further ones wait. Each one needs two commits, which on SQLite
 * take the event loop. Hundreds at once would leave it no time for other environments.
 */
const putsPerEnv = 8

const makePut = Effect.map(makeStore, (store) => {
  const permits = new KeyedSemaphore(putsPerEnv)
  return (run: Run, input: Omit<NewFile<never>, "runId">) => permits.withPermit(run.env_id, store(run, input))
})

export const filesPut = operation({
  name: "files.put",
  input: Schema.Struct({ ...NewContent, bytes: Schema.String }),
  output: StoredFile,
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: makePut,
  handler:
    (put) =>
    (run, { bytes, ...rest }) =>
      Effect.flatMap(decodeBytes(bytes), (whole) =>
        Effect.map(put(run, { ...rest, size: whole.length, bytes: Stream.succeed(whole) }), toGuest)
      )
})

export const filesBegin = operation({
  name: "files.begin",
  input: Schema.Struct({ ...NewContent, id: GuestId, length: Length }),
  output: Schema.Void,
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: Effect.all({ store: makeStore, uploads: fileUploads }),
  handler:
    ({ store, uploads }) =>
    (run, { id, length, ...rest }) =>
      Effect.suspend(() => {
        if (uploads.find(run.run_id, id) !== undefined) return refuse("the file is being written")
        const upload = new FileUpload(() => uploads.remove(run.run_id, id))
        uploads.add(run.run_id, id, upload)
        return upload.begin((bytes) => store(run, { ...rest, size: length, bytes }))
      })
})

export const filesWrite = operation({
  name: "files.write",
  input: Schema.Struct({ id: GuestId, bytes: Schema.String, done: Schema.Boolean }),
  output: Schema.NullOr(StoredFile),
  permission: ofRun,
  span: "none",
  guest,
  needs: fileUploads,
  handler:
    (uploads) =>
    (run, { id, bytes, done }) =>
      Effect.flatMap(decodeBytes(bytes), (chunk) =>
        Effect.map(
          uploads.find(run.run_id, id)?.write(chunk, done) ?? refuse("the file is not being written"),
          (file) => file && toGuest(file)
        )
      )
})

export const filesCancel = endOperation("files.cancel", guest, fileUploads)

export const filesGet = operation({
  name: "files.get",
  input: Schema.Struct(Path),
  output: Schema.NullOr(StoredFile),
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: Files,
  handler:
    (files) =>
    (_, { path }) =>
      Effect.map(orNull(files.openPath(path)), (found) => found && toGuest(found.file))
})

export const filesOpen = textOperation({
  name: "files.open",
  input: Schema.Struct({ ...Path, id: GuestId, etag: Schema.String, ...PieceRequest }),
  output: Piece,
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: Effect.all({ files: Files, open: contentOpener }),
  handler:
    ({ files, open }) =>
    (run, { path, etag, ...piece }) =>
      Effect.flatMap(files.openPath(path), ({ file, read }) =>
        file.etag === etag ? open(run, piece, read()) : replaced
      )
})

export const filesList = operation({
  name: "files.list",
  input: Schema.Struct({
    prefix: Schema.String,
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
    offset: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
  }),
  output: Schema.Struct({ items: Schema.Array(StoredFile), total: Schema.Int }),
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: Files,
  handler:
    (files) =>
    (_, { prefix, ...page }) =>
      Effect.map(files.list(page, prefix), ({ items, total }) => ({ items: items.map(toGuest), total }))
})

export const filesDelete = operation({
  name: "files.delete",
  input: Schema.Struct(Path),
  output: Schema.Boolean,
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: Files,
  handler:
    (files) =>
    (_, { path }) =>
      Effect.flatMap(orNull(files.openPath(path)), (found) =>
        found === null
          ? Effect.succeed(false)
          : Effect.map(orNull(Effect.as(files.remove(found.file.file_id), true)), (removed) => removed ?? false)
      )
})

export const filesUrl = operation({
  name: "files.url",
  input: Schema.Struct({ ...Path, expires_in: Schema.optionalKey(Schema.Number) }),
  output: Schema.String,
  permission: ofEnvironment,
  span: "internal",
  guest,
  needs: FileLinks,
  handler:
    (links) =>
    (_, { path, expires_in }) =>
      links.make(path, expires_in)
})

const replaced = Effect.fail(
  new HostCallRefused({ name: "NotFound", message: "The file was replaced since it was looked up" })
)

const toGuest = (file: File): typeof StoredFile.Type => ({
  file_id: file.file_id,
  path: file.path,
  size: file.size,
  etag: file.etag,
  content_type: file.content_type,
  created_by_run_id: file.created_by_run_id,
  updated_by_run_id: file.updated_by_run_id,
  created_at: iso(file.created_at),
  updated_at: iso(file.updated_at)
})
