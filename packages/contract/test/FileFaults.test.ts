/** Stores of files with one fault each in records, reservations and uploads, which the contract must detect. */
import { fileStoreChecks } from "@weft/contract"
import { type FileFilter, FileStore, type Stored, type StoreTerms } from "@weft/core/adapter"
import { Effect } from "effect"
import { at, envId } from "../src/Samples.ts"
import { detects, faulty } from "./Faults.ts"

const without = (key: keyof FileFilter) =>
  faulty(FileStore, (store) => ({
    list: (env, page, { [key]: _, ...filter }) => store.list(env, page, filter)
  }))

/** A store that changes the terms of its callers. */
const onTerms = (change: (terms: StoreTerms) => StoreTerms) =>
  faulty(FileStore, (store) => ({
    store: (file, terms) => store.store(file, change(terms)),
    completeUpload: (id, file, terms) => store.completeUpload(id, file, change(terms))
  }))

/** A store that changes a file after it was stored. */
const afterStore = (then: (store: FileStore["Service"], stored: Stored) => Effect.Effect<unknown, unknown>) =>
  faulty(FileStore, (store) => ({
    store: (file, terms) => Effect.tap(store.store(file, terms), (stored) => Effect.ignore(then(store, stored)))
  }))

detects("the contract of files", fileStoreChecks, {
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
  "returns the page size as the total": faulty(FileStore, (store) => ({
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
  "ignores the allowed paths": without("only"),
  "treats a folder as a plain prefix": faulty(FileStore, (store) => ({
    list: (env, page, { only, ...filter }) =>
      only?.length === 1 && only[0]?.endsWith("/*")
        ? store.list(env, page, { prefix: only[0].slice(0, -2), ...filter })
        : store.list(env, page, only === undefined ? filter : { ...filter, only })
  })),
  "changes the id of a replaced file": faulty(FileStore, (store) => ({
    store: (file, terms) =>
      Effect.map(store.store(file, terms), (stored) => (stored._tag === "Stored" ? { ...stored, file } : stored))
  })),
  "ignores the permission to create": onTerms((terms) => ({ ...terms, mayCreate: true })),
  "ignores the permission to replace": onTerms((terms) => ({ ...terms, mayReplace: true })),
  "has no limit": onTerms((terms) => ({ ...terms, storage_bytes: -1 })),
  "rejects a file that fits exactly": onTerms((terms) => ({
    ...terms,
    storage_bytes: terms.storage_bytes > 0 ? terms.storage_bytes - 1 : terms.storage_bytes
  })),
  "reserves replaced keys for too short a time": onTerms((terms) => ({ ...terms, reclaimAt: at(0) })),
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
    let peak = 0
    return {
      storageBytes: (org) =>
        Effect.map(store.storageBytes(org), (bytes) => {
          peak = Math.max(peak, bytes)
          return peak
        })
    }
  })
})

detects("the contract of loose bytes", fileStoreChecks, {
  "takes keys before their reservation expires": faulty(FileStore, (store) => ({
    claimExpired: (_, retryAt, limit) => store.claimExpired(at(100_000), retryAt, limit)
  })),
  "ignores the limit of keys": faulty(FileStore, (store) => ({
    claimExpired: (now, retryAt) => store.claimExpired(now, retryAt, 1000)
  })),
  "gives keys to concurrent callers": faulty(FileStore, (store) => ({
    claimExpired: (now, _, limit) => store.claimExpired(now, now, limit)
  })),
  "never retries taken keys": faulty(FileStore, (store) => ({
    claimExpired: (now, _, limit) => store.claimExpired(now, at(10_000_000), limit)
  })),
  "does not extend reservations": faulty(FileStore, (store) => ({
    extend: (key) => store.extend(key, at(0))
  })),
  "extends missing reservations": faulty(FileStore, (store) => ({
    extend: (key, until) => Effect.as(store.extend(key, until), true)
  })),
  "stores files with taken keys": faulty(FileStore, (store) => ({
    claimExpired: (now, retryAt, limit) =>
      Effect.tap(store.claimExpired(now, retryAt, limit), (keys) =>
        Effect.andThen(
          store.release(keys),
          Effect.forEach(keys, (key) => store.reserve(key, retryAt))
        )
      )
  })),
  "stores files without a reservation": faulty(FileStore, (store) => ({
    store: (file, terms) => Effect.andThen(store.reserve(file.storage_path, at(0)), store.store(file, terms))
  })),
  "keeps the reservation of a stored file": afterStore((store, stored) =>
    stored._tag === "Stored" ? store.reserve(stored.file.storage_path, at(100)) : Effect.void
  ),
  "releases the reservation of a rejected file": faulty(FileStore, (store) => ({
    store: (file, terms) =>
      Effect.tap(store.store(file, terms), ({ _tag }) =>
        _tag === "Stored" ? Effect.void : store.release([file.storage_path])
      )
  })),
  "does not reserve the key of a replaced file": faulty(FileStore, (store) => ({
    store: (file, terms) =>
      Effect.gen(function* () {
        const old = yield* Effect.option(store.find(file.env_id, file.path))
        const stored = yield* store.store(file, terms)
        if (old._tag === "Some" && stored._tag === "Stored") yield* store.release([old.value.storage_path])
        return stored
      })
  })),
  "does not reserve the key of a removed file": faulty(FileStore, (store) => ({
    remove: (env, id, until) =>
      Effect.flatMap(store.get(env, id), (file) =>
        Effect.andThen(store.remove(env, id, until), store.release([file.storage_path]))
      )
  })),
  "never forgets keys": faulty(FileStore, () => ({ release: () => Effect.void })),
  "forgets only one of many keys": faulty(FileStore, (store) => ({
    release: (keys) => store.release(keys.slice(0, 1))
  }))
})

detects("the contract of uploads", fileStoreChecks, {
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
  "lists parts in text order": faulty(FileStore, (store) => ({
    parts: (env, id) =>
      Effect.map(store.parts(env, id), (parts) =>
        [...parts].sort((a, b) => (String(a.part_number) < String(b.part_number) ? -1 : 1))
      )
  })),
  "ignores the limit for parts": faulty(FileStore, (store) => ({
    putPart: (env, id, part, terms) => store.putPart(env, id, part, { ...terms, storage_bytes: -1 })
  })),
  "ends an upload whose file is rejected": faulty(FileStore, (store) => ({
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
  "releases the reservation of a removed upload": faulty(FileStore, (store) => ({
    removeUpload: (env, id) =>
      Effect.flatMap(store.getUpload(env, id, at(0)), (upload) =>
        Effect.andThen(store.removeUpload(env, id), store.release([upload.storage_path]))
      )
  })),
  "returns the youngest expired upload first": faulty(FileStore, (store) => ({
    expiredUploads: (now, limit, after) =>
      Effect.map(store.expiredUploads(now, limit, after), (uploads) => [...uploads].reverse())
  })),
  "ignores the position in expired uploads": faulty(FileStore, (store) => ({
    expiredUploads: (now, limit) => store.expiredUploads(now, limit, null)
  })),
  "returns open uploads as expired": faulty(FileStore, (store) => ({
    expiredUploads: (_, limit, after) => store.expiredUploads(at(100_000), limit, after)
  }))
})
