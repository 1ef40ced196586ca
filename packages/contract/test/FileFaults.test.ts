/** Faulty stores of files: what records, notes of loose bytes and uploads get wrong. */
import { fileStoreChecks } from "@weft/contract"
import { type FileFilter, FileStore, type Stored, type StoreTerms } from "@weft/core"
import { Effect } from "effect"
import { at, envId } from "../src/Samples.ts"
import { faulty, notices } from "./Faults.ts"

const without = (key: keyof FileFilter) =>
  faulty(FileStore, (store) => ({
    list: (env, page, { [key]: _, ...filter }) => store.list(env, page, filter)
  }))

/** The store, on other terms than were given. */
const onTerms = (change: (terms: StoreTerms) => StoreTerms) =>
  faulty(FileStore, (store) => ({
    store: (file, terms) => store.store(file, change(terms)),
    completeUpload: (id, file, terms) => store.completeUpload(id, file, change(terms))
  }))

/** The store, with something done to a file after it was stored. */
const afterStore = (then: (store: FileStore["Service"], stored: Stored) => Effect.Effect<unknown, unknown>) =>
  faulty(FileStore, (store) => ({
    store: (file, terms) => Effect.tap(store.store(file, terms), (stored) => Effect.ignore(then(store, stored)))
  }))

notices("the contract of files", fileStoreChecks, {
  "reads other environments": faulty(FileStore, (store) => ({
    get: (env, id) => Effect.catchTag(store.get(env, id), "NotFound", () => store.get(envId(1), id))
  })),
  "finds paths of other environments": faulty(FileStore, (store) => ({
    find: (env, path) => Effect.catchTag(store.find(env, path), "NotFound", () => store.find(envId(1), path))
  })),
  "removes from other environments": faulty(FileStore, (store) => ({
    remove: (_, id, until) => store.remove(envId(1), id, until)
  })),
  "lists other environments": faulty(FileStore, (store) => ({
    list: (_, page, filter) => store.list(envId(1), page, filter)
  })),
  "takes the page for all": faulty(FileStore, (store) => ({
    list: (env, page, filter) =>
      Effect.map(store.list(env, page, filter), ({ items }) => ({ items, total: items.length }))
  })),
  "lists by code unit": faulty(FileStore, (store) => ({
    list: (env, page, filter) =>
      Effect.map(store.list(env, page, filter), ({ items, total }) => ({
        items: [...items].sort((a, b) => (a.path < b.path ? -1 : 1)),
        total
      }))
  })),
  "ignores the prefix": without("prefix"),
  "ignores what may be listed": without("only"),
  "takes a folder for a prefix": faulty(FileStore, (store) => ({
    list: (env, page, { only, ...filter }) =>
      only?.length === 1 && only[0]?.endsWith("/*")
        ? store.list(env, page, { prefix: only[0].slice(0, -2), ...filter })
        : store.list(env, page, only === undefined ? filter : { ...filter, only })
  })),
  "gives a replaced file a new id": faulty(FileStore, (store) => ({
    store: (file, terms) =>
      Effect.map(store.store(file, terms), (stored) => (stored._tag === "Stored" ? { ...stored, file } : stored))
  })),
  "lets everybody create": onTerms((terms) => ({ ...terms, mayCreate: true })),
  "lets everybody replace": onTerms((terms) => ({ ...terms, mayReplace: true })),
  "has no limit": onTerms((terms) => ({ ...terms, storage_bytes: -1 })),
  "is a byte too strict": onTerms((terms) => ({
    ...terms,
    storage_bytes: terms.storage_bytes > 0 ? terms.storage_bytes - 1 : terms.storage_bytes
  })),
  "leaves replaced bytes too short a time": onTerms((terms) => ({ ...terms, looseUntil: at(0) })),
  "counts files of other organizations": faulty(FileStore, (store) => {
    let sum = 0
    return {
      store: (file, terms) =>
        Effect.tap(store.store(file, terms), (stored) =>
          Effect.sync(() => {
            if (stored._tag === "Stored") sum += file.size
          })
        ),
      storageBytes: () => Effect.sync(() => sum)
    }
  }),
  "counts removed files": faulty(FileStore, (store) => {
    let most = 0
    return {
      storageBytes: (org) =>
        Effect.map(store.storageBytes(org), (bytes) => {
          most = Math.max(most, bytes)
          return most
        })
    }
  })
})

notices("the contract of loose bytes", fileStoreChecks, {
  "takes keys before their instant": faulty(FileStore, (store) => ({
    takeLoose: (_, retryAt, limit) => store.takeLoose(at(100_000), retryAt, limit)
  })),
  "ignores the limit of keys": faulty(FileStore, (store) => ({
    takeLoose: (now, retryAt) => store.takeLoose(now, retryAt, 1000)
  })),
  "gives keys to two at once": faulty(FileStore, (store) => ({
    takeLoose: (now, _, limit) => store.takeLoose(now, now, limit)
  })),
  "never gives keys again": faulty(FileStore, (store) => ({
    takeLoose: (now, _, limit) => store.takeLoose(now, at(10_000_000), limit)
  })),
  "moves no instants": faulty(FileStore, (store) => ({
    extend: (key) => store.extend(key, at(0))
  })),
  "extends what is not loose": faulty(FileStore, (store) => ({
    extend: (key, until) => Effect.as(store.extend(key, until), true)
  })),
  "stores what was taken": faulty(FileStore, (store) => ({
    takeLoose: (now, retryAt, limit) =>
      Effect.tap(store.takeLoose(now, retryAt, limit), (keys) =>
        Effect.andThen(
          store.forget(keys),
          Effect.forEach(keys, (key) => store.announce(key, retryAt))
        )
      )
  })),
  "stores without a note": faulty(FileStore, (store) => ({
    store: (file, terms) => Effect.andThen(store.announce(file.storage_path, at(0)), store.store(file, terms))
  })),
  "keeps the note of a stored file": afterStore((store, stored) =>
    stored._tag === "Stored" ? store.announce(stored.file.storage_path, at(100)) : Effect.void
  ),
  "drops the note of a refused file": faulty(FileStore, (store) => ({
    store: (file, terms) =>
      Effect.tap(store.store(file, terms), ({ _tag }) =>
        _tag === "Stored" ? Effect.void : store.forget([file.storage_path])
      )
  })),
  "forgets the bytes of a replaced file": faulty(FileStore, (store) => ({
    store: (file, terms) =>
      Effect.gen(function* () {
        const old = yield* Effect.option(store.find(file.env_id, file.path))
        const stored = yield* store.store(file, terms)
        if (old._tag === "Some" && stored._tag === "Stored") yield* store.forget([old.value.storage_path])
        return stored
      })
  })),
  "forgets the bytes of a removed file": faulty(FileStore, (store) => ({
    remove: (env, id, until) =>
      Effect.flatMap(store.get(env, id), (file) =>
        Effect.andThen(store.remove(env, id, until), store.forget([file.storage_path]))
      )
  })),
  "forgets nothing": faulty(FileStore, () => ({ forget: () => Effect.void })),
  "forgets one key of many": faulty(FileStore, (store) => ({ forget: (keys) => store.forget(keys.slice(0, 1)) }))
})

notices("the contract of uploads", fileStoreChecks, {
  "finds uploads of other environments": faulty(FileStore, (store) => ({
    getUpload: (_, id, now) => store.getUpload(envId(1), id, now)
  })),
  "finds expired uploads": faulty(FileStore, (store) => ({
    getUpload: (env, id) => store.getUpload(env, id, at(0))
  })),
  "adds parts to uploads of other environments": faulty(FileStore, (store) => ({
    putPart: (_, id, part, terms) => store.putPart(envId(1), id, part, terms)
  })),
  "shows parts to other environments": faulty(FileStore, (store) => ({
    parts: (_, id) => store.parts(envId(1), id)
  })),
  "keeps the first part of a number": faulty(FileStore, (store) => ({
    putPart: (env, id, part, terms) =>
      Effect.flatMap(store.parts(env, id), (parts) =>
        parts.some((noted) => noted.part_number === part.part_number)
          ? Effect.succeed(true)
          : store.putPart(env, id, part, terms)
      )
  })),
  "tells parts as text sorts": faulty(FileStore, (store) => ({
    parts: (env, id) =>
      Effect.map(store.parts(env, id), (parts) =>
        [...parts].sort((a, b) => (String(a.part_number) < String(b.part_number) ? -1 : 1))
      )
  })),
  "lets every part in": faulty(FileStore, (store) => ({
    putPart: (env, id, part, terms) => store.putPart(env, id, part, { ...terms, storage_bytes: -1 })
  })),
  "ends an upload whose file is refused": faulty(FileStore, (store) => ({
    completeUpload: (id, file, terms) =>
      Effect.tap(store.completeUpload(id, file, terms), ({ _tag }) =>
        _tag === "Stored" ? Effect.void : store.removeUpload(file.env_id, id)
      )
  })),
  "stores the file and keeps the upload": faulty(FileStore, (store) => ({
    completeUpload: (_, file, terms) => store.store(file, terms)
  })),
  "removes uploads of other environments": faulty(FileStore, (store) => ({
    removeUpload: (_, id) => store.removeUpload(envId(1), id)
  })),
  "drops the note of a removed upload": faulty(FileStore, (store) => ({
    removeUpload: (env, id) =>
      Effect.flatMap(store.getUpload(env, id, at(0)), (upload) =>
        Effect.andThen(store.removeUpload(env, id), store.forget([upload.storage_path]))
      )
  })),
  "tells the youngest expired upload first": faulty(FileStore, (store) => ({
    expiredUploads: (now, limit, after) =>
      Effect.map(store.expiredUploads(now, limit, after), (uploads) => [...uploads].reverse())
  })),
  "begins again with the first expired upload": faulty(FileStore, (store) => ({
    expiredUploads: (now, limit) => store.expiredUploads(now, limit, null)
  })),
  "takes open uploads for expired": faulty(FileStore, (store) => ({
    expiredUploads: (_, limit, after) => store.expiredUploads(at(100_000), limit, after)
  }))
})
