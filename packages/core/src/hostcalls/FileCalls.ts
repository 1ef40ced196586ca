/**
 * The host calls behind the guest's `svc.files`.
 *
 * | operation      | payload                        | answer                                              |
 * | -------------- | ------------------------------ | --------------------------------------------------- |
 * | `files.put`    | path, content_type, bytes      | the file                                            |
 * | `files.begin`  | id, path, content_type, length | null                                                |
 * | `files.write`  | id, bytes, done                | null; with `done` the file                          |
 * | `files.cancel` | id                             | null                                                |
 * | `files.get`    | path                           | the file, or null                                   |
 * | `files.open`   | id, path, etag, max, text      | bytes, done; and so on by `content.read`            |
 * | `files.list`   | prefix, limit, offset          | items, total                                        |
 * | `files.delete` | path                           | whether there was one                               |
 * | `files.url`    | path, expires_in               | the URL                                             |
 *
 * A file that does not fit into one call is begun and written, of `length` bytes (null: not known). It is there when
 * the last write is answered, and never when the run ends before. All is done with the rights of the environment.
 */
import { type Cause, Deferred, Effect, Exit, Queue, Schema, Scope, Stream } from "effect"
import { Caller, hostIdentity } from "../access/Caller.ts"
import type { File } from "../files/File.ts"
import { FileLinks } from "../files/FileLinks.ts"
import { Files, type NewFile, orNull } from "../files/Files.ts"
import { iso } from "../ids/Timestamp.ts"
import { HostCallRefused } from "../sandbox/Sandbox.ts"
import type { Contents } from "./Contents.ts"
import { bytesOf, GuestId, type GuestOperation, guestOperation, type Owner, Piece, refused } from "./GuestOperation.ts"
import { type Open, OpenOfRuns } from "./OpenOfRuns.ts"

const Path = { path: Schema.String }
const NewContent = { ...Path, content_type: Schema.String }
const Length = Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

const payloads = {
  put: Schema.Struct({ ...NewContent, bytes: Schema.String }),
  begin: Schema.Struct({ ...NewContent, id: GuestId, length: Length }),
  write: Schema.Struct({ id: GuestId, bytes: Schema.String, done: Schema.Boolean }),
  cancel: Schema.Struct({ id: GuestId }),
  get: Schema.Struct(Path),
  open: Schema.Struct({ ...Path, id: GuestId, etag: Schema.String, ...Piece }),
  list: Schema.Struct({
    prefix: Schema.String,
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
    offset: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
  }),
  url: Schema.Struct({ ...Path, expires_in: Schema.optionalKey(Schema.Number) })
}

export interface FileCalls {
  readonly operations: ReadonlyArray<readonly [string, GuestOperation]>
  readonly endAll: (run: Owner) => Effect.Effect<void>
}

type Failure = { readonly _tag: string; readonly message: string }

export const makeFileCalls = (contents: Contents): Effect.Effect<FileCalls, never, Files | FileLinks> =>
  Effect.gen(function* () {
    const files = yield* Files
    const links = yield* FileLinks
    const uploads = new OpenOfRuns<Upload>()

    const store = (run: Owner, input: Omit<NewFile<never>, "runId">) =>
      Effect.map(files.upload({ ...input, runId: run.run_id }), told)

    const begin = (run: Owner, { id, length, ...rest }: typeof payloads.begin.Type) =>
      Effect.suspend(() => {
        if (uploads.find(run.run_id, id) !== undefined) return refused("the file is being written")
        const upload = new Upload(() => uploads.remove(run.run_id, id))
        uploads.add(run.run_id, id, upload)
        return upload.begin((bytes) => as(run, store(run, { ...rest, size: length, bytes })))
      })

    const remove = (path: string) =>
      Effect.flatMap(orNull(files.openPath(path)), (found) =>
        found === null
          ? Effect.succeed("false")
          : Effect.map(orNull(Effect.as(files.remove(found.file.file_id), true)), (removed) => String(removed ?? false))
      )

    return {
      endAll: (run) => uploads.endAll(run.run_id),
      operations: [
        [
          "files.put",
          guestOperation(payloads.put, (run, { bytes, ...rest }) =>
            Effect.flatMap(bytesOf(bytes), (whole) =>
              as(run, store(run, { ...rest, size: whole.length, bytes: Stream.succeed(whole) }))
            )
          )
        ],
        ["files.begin", guestOperation(payloads.begin, (run, input) => Effect.as(begin(run, input), "null"))],
        [
          "files.write",
          guestOperation(payloads.write, (run, { id, bytes, done }) =>
            Effect.flatMap(
              bytesOf(bytes),
              (chunk) => uploads.find(run.run_id, id)?.write(chunk, done) ?? refused("the file is not being written")
            )
          )
        ],
        [
          "files.cancel",
          guestOperation(payloads.cancel, (run, { id }) =>
            Effect.as(
              Effect.suspend(() => uploads.find(run.run_id, id)?.end ?? Effect.void),
              "null"
            )
          )
        ],
        [
          "files.get",
          guestOperation(payloads.get, (run, { path }) =>
            Effect.map(as(run, orNull(files.openPath(path))), (found) => (found === null ? "null" : told(found.file)))
          )
        ],
        [
          "files.open",
          guestOperation(payloads.open, (run, { path, etag, ...piece }) =>
            Effect.flatMap(as(run, files.openPath(path)), ({ file, read }) =>
              file.etag === etag ? contents.begin(run, piece, read()) : replaced
            )
          )
        ],
        [
          "files.list",
          guestOperation(payloads.list, (run, { prefix, ...page }) =>
            Effect.map(
              as(run, files.list(page, prefix)),
              ({ items, total }) => `{"items":[${items.map(told).join(",")}],"total":${total}}`
            )
          )
        ],
        ["files.delete", guestOperation(payloads.get, (run, { path }) => as(run, remove(path)))],
        [
          "files.url",
          guestOperation(payloads.url, (run, { path, expires_in }) =>
            Effect.map(as(run, links.make(path, expires_in)), (url) => JSON.stringify(url))
          )
        ]
      ]
    }
  })

const as = <A, E>(run: Owner, effect: Effect.Effect<A, E, Caller>): Effect.Effect<A, E> =>
  Effect.provideService(effect, Caller, hostIdentity(run.env_id))

const replaced = Effect.fail(
  new HostCallRefused({ name: "NotFound", message: "The file was replaced since it was looked up" })
)

/** What a guest is told of a file, as JSON text. */
const told = ({ path, size, etag, content_type, file_id, created_at, updated_at, ...file }: File): string =>
  JSON.stringify({
    file_id,
    path,
    size,
    etag,
    content_type,
    created_by_run_id: file.created_by_run_id,
    updated_by_run_id: file.updated_by_run_id,
    created_at: iso(created_at),
    updated_at: iso(updated_at)
  })

/** A file that comes in by one call after the other. */
class Upload implements Open {
  readonly #scope = Scope.makeUnsafe()
  readonly #stored = Deferred.makeUnsafe<string, Failure>()
  readonly #onEnd: () => void
  #chunks: Queue.Queue<Uint8Array, Cause.Done> | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** What was not stored by now never is. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    return Scope.close(this.#scope, Exit.void)
  })

  begin(store: (bytes: Stream.Stream<Uint8Array>) => Effect.Effect<string, Failure>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const chunks = yield* Queue.bounded<Uint8Array, Cause.Done>(1)
      this.#chunks = chunks
      const storing = Effect.onExit(store(Stream.fromQueue(chunks)), (exit) => Deferred.done(this.#stored, exit))
      yield* Effect.forkIn(storing, this.#scope)
    })
  }

  /** Waits until the bytes are on their way; with the last ones, until the file is stored, which it tells of. */
  write(bytes: Uint8Array, done: boolean): Effect.Effect<string, Failure> {
    return Effect.suspend(() => {
      const chunks = this.#chunks
      if (chunks === undefined) return refused("the file is not being written")
      const offered = bytes.length === 0 ? Effect.void : Queue.offer(chunks, bytes)
      const written = done
        ? Effect.flatMap(Effect.andThen(offered, Queue.end(chunks)), () => Deferred.await(this.#stored))
        : Effect.as(offered, "null")
      // Storing that has failed takes no more.
      return Effect.raceFirst(written, Deferred.await(this.#stored))
    }).pipe(Effect.onExit((exit) => (done || Exit.isFailure(exit) ? this.end : Effect.void)))
  }
}
