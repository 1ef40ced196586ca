/**
 * Blobs as files of a folder that only its owner can read.
 *
 * A write goes into a draft, which is synced and then renamed to its place. So readers, also after a crash, see the old bytes
 * or the new ones. The next start removes drafts that a crash left.
 */
import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import { NotFound, type StoreUnavailable } from "@weft/core"
import { BlobStore, type ByteRange, markDisposable } from "@weft/core/adapter"
import { Cause, Effect, Layer, type Pull, Schema, type Scope, Stream } from "effect"
import { attempt } from "./Attempt.ts"
import { type BlobReader, openReader, readAll } from "./BlobReader.ts"
import { isEmptyTree, placeFile, removeContent } from "./Content.ts"
import { throughDraft, writeDraft } from "./Draft.ts"
import { type JoinedFolders, makeJoinedFolders } from "./JoinedFolders.ts"
import { makeKeyLocks } from "./KeyLocks.ts"
import { areOpen, beginParts, dropParts, joinParts, placePart } from "./Parts.ts"
import { contentPath, draftPath, openPlaces, type Places, partFile, partsPath } from "./Places.ts"

export interface FilesystemOptions {
  /** Created with its parents if it is missing. Only one process may use it at a time. */
  readonly dir: string
}

/** The folder cannot be created or written. Reported at start, for the operator. */
export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  dir: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The folder ${this.dir} cannot be used for blobs: ${reason}`
  }
}

export const blobs = ({ dir }: FilesystemOptions): Layer.Layer<BlobStore, FolderUnusable> =>
  Layer.effect(
    BlobStore,
    Effect.map(
      Effect.tryPromise({ try: () => openPlaces(dir), catch: (cause) => new FolderUnusable({ dir, cause }) }),
      storeIn
    )
  )

const storeIn = (places: Places): BlobStore["Service"] => {
  const joined = makeJoinedFolders()
  const keys = makeKeyLocks()
  const uploads = makeKeyLocks()

  /** Makes a change uninterruptible: a rename in progress cannot be undone. */
  const change = <A>(operation: string, run: () => Promise<A>) => Effect.uninterruptible(attempt(operation, run))
  const place = (key: string, draft: string) => keys.holding(key, () => placeFile(places, joined, key, draft))

  return BlobStore.of({
    backend: "filesystem",

    newHash: () => {
      const hash = createHash("sha256")
      return { update: (bytes) => void hash.update(bytes), digest: Effect.sync(() => hash.digest("hex")) }
    },

    isEmpty: attempt("isEmpty", () => isEmptyTree(places.content)),

    put: (key, bytes) =>
      checked(
        () => contentPath(places, key),
        () =>
          change("put", async () => {
            const draft = draftPath(places)
            try {
              await writeDraft(draft, bytes)
              await place(key, draft)
            } catch (error) {
              await rm(draft, { force: true })
              throw error
            }
          })
      ),

    get: (key) =>
      Effect.scoped(
        Effect.flatMap(openScoped(places, joined, "get", key), (reader) => attempt("get", () => readAll(reader)))
      ),

    remove: (key) =>
      checked(
        () => contentPath(places, key),
        () => change("remove", () => keys.holding(key, () => removeContent(places, joined, key)))
      ),

    write: (key, bytes) =>
      checked(
        () => contentPath(places, key),
        () =>
          throughDraft("write", draftPath(places), bytes, { trailer: false }, ({ path, size, digest }) =>
            Effect.as(
              attempt("write", () => place(key, path)),
              { size, digest }
            )
          )
      ),

    read: (key, range) =>
      Effect.map(openScoped(places, joined, "read", key, range), (reader) =>
        Stream.fromPull(Effect.succeed(pullFrom(reader)))
      ),

    address: () => Effect.succeed(null),

    beginParts: () => change("beginParts", () => beginParts(places)),

    writePart: (_key, name, number, bytes) =>
      checked(
        () => partFile(partsPath(places, name), number),
        () =>
          Effect.flatMap(
            attempt("writePart", () => areOpen(places, name)),
            (open) =>
              open
                ? throughDraft("writePart", draftPath(places), bytes, { trailer: true }, ({ path, size, digest }) =>
                    Effect.flatMap(
                      attempt("writePart", () => uploads.holding(name, () => placePart(places, name, number, path))),
                      (placed) => (placed ? Effect.succeed({ size, digest }) : Effect.fail(absent))
                    )
                  )
                : Effect.fail(absent)
          )
      ),

    joinParts: (key, name, chosen) =>
      checked(
        () => [contentPath(places, key), partsPath(places, name)],
        () =>
          change("joinParts", () =>
            uploads.holding(name, () => keys.holding(key, () => joinParts(places, joined, key, name, chosen)))
          ).pipe(Effect.flatMap(orAbsent))
      ),

    dropParts: (_key, name) =>
      checked(
        () => partsPath(places, name),
        () => change("dropParts", () => uploads.holding(name, () => dropParts(places, name)))
      )
  })
}

const absent = new NotFound({ resource: "blob" })

const orAbsent = <A>(value: A | null): Effect.Effect<A, NotFound> =>
  value === null ? Effect.fail(absent) : Effect.succeed(value)

/** An invalid key is a programming error, not an outage: the effect dies. */
const checked = <A, E, R>(path: () => unknown, effect: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    path()
    return effect()
  })

const openScoped = (
  places: Places,
  joined: JoinedFolders,
  operation: string,
  key: string,
  range?: ByteRange
): Effect.Effect<BlobReader, NotFound | StoreUnavailable, Scope.Scope> =>
  checked(
    () => contentPath(places, key),
    () =>
      Effect.acquireRelease(
        Effect.flatMap(
          attempt(operation, () => openReader(places, joined, key, range)),
          orAbsent
        ),
        (reader) => Effect.promise(() => reader.close().catch(() => undefined))
      )
  )

/** Streams chunk by chunk: nothing is read before the previous chunk is taken. */
const pullFrom = (reader: BlobReader): Pull.Pull<readonly [Uint8Array], StoreUnavailable> =>
  Effect.flatMap(
    attempt("read", () => reader.next()),
    (piece) => (piece === null ? Cause.done() : Effect.succeed([markDisposable(piece)] as const))
  )
