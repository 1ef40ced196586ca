/** `FileStore` in memory: the executable specification. */
import { Bytes, Effect, Layer } from "effect"
import { NotFound } from "../errors/Errors.ts"
import type { File } from "../files/File.ts"
import { type FileFilter, FileStore, type Stored, type StoreTerms } from "../files/FileStore.ts"
import type { UploadedPart } from "../files/MultipartUpload.ts"
import { isOver, refusalOf, succeeding } from "../files/StoreRules.ts"
import type { EnvId, OrgId, UploadId } from "../ids/Ids.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import { utf8Encode } from "../ids/Utf8.ts"
import { compareText, MemoryDatabase, pageOf, type UploadRow } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<FileStore, never, MemoryDatabase> = Layer.effect(
  FileStore,
  Effect.gen(function* () {
    const { envs, files, looseBytes, uploads } = yield* MemoryDatabase

    const findFile = (isIt: (file: File) => boolean) =>
      Effect.suspend(() => {
        const found = [...files.values()].find(isIt)
        return found === undefined ? Effect.fail(noSuchFile) : Effect.succeed(found)
      })

    const findUpload = (envId: EnvId, id: UploadId, isIt: (row: UploadRow) => boolean = () => true) =>
      Effect.suspend(() => {
        const row = uploads.get(id)
        return row === undefined || row.upload.env_id !== envId || !isIt(row)
          ? Effect.fail(noSuchUpload)
          : Effect.succeed(row)
      })

    const used = (orgId: OrgId): number => {
      const isOfOrg = ({ env_id }: { readonly env_id: EnvId }) => envs.get(env_id)?.org_id === orgId
      const kept = [...files.values()].filter(isOfOrg)
      const parts = [...uploads.values()].filter((row) => isOfOrg(row.upload)).flatMap(partsOf)
      return sizeOf(kept) + sizeOf(parts)
    }

    const loosen = (key: string, until: Timestamp) => {
      if (looseBytes.get(key)?.taken !== true) looseBytes.set(key, { until, taken: false })
    }

    const storeFile = (file: File, terms: StoreTerms, parts: ReadonlyArray<UploadedPart>): Stored => {
      const old = [...files.values()].find(isAt(file.env_id, file.path)) ?? null
      const refusal = refusalOf(file, terms, {
        isLoose: looseBytes.get(file.storage_path)?.taken === false,
        old,
        used: used(terms.org_id),
        parts: sizeOf(parts)
      })
      if (refusal !== null) return refusal
      const stored = succeeding(file, old)
      files.set(stored.file_id, stored)
      looseBytes.delete(file.storage_path)
      if (old !== null) loosen(old.storage_path, terms.looseUntil)
      return { _tag: "Stored", file: stored }
    }

    return FileStore.of({
      get: (envId, id) => findFile((file) => file.env_id === envId && file.file_id === id),
      find: (envId, path) => findFile(isAt(envId, path)),
      list: (envId, page, filter) =>
        Effect.sync(() =>
          pageOf(
            [...files.values()].filter((file) => file.env_id === envId && isListed(file.path, filter)).sort(byPath),
            page
          )
        ),
      storageBytes: (orgId) => Effect.sync(() => used(orgId)),

      announce: (key, until) => Effect.sync(() => loosen(key, until)),
      extend: (key, until) =>
        Effect.sync(() => {
          if (looseBytes.get(key)?.taken !== false) return false
          looseBytes.set(key, { until, taken: false })
          return true
        }),
      store: (file, terms) => Effect.sync(() => storeFile(file, terms, [])),
      remove: (envId, id, looseUntil) =>
        Effect.map(
          findFile((file) => file.env_id === envId && file.file_id === id),
          (file) => {
            files.delete(id)
            loosen(file.storage_path, looseUntil)
          }
        ),
      takeLoose: (now, retryAt, limit) =>
        Effect.sync(() => {
          const taken = [...looseBytes]
            .filter(([, { until }]) => until <= now)
            .sort(([a, { until }], [b, other]) => until - other.until || compareText(a, b))
            .slice(0, limit)
            .map(([key]) => key)
          for (const key of taken) looseBytes.set(key, { until: retryAt, taken: true })
          return taken
        }),
      forget: (keys) =>
        Effect.sync(() => {
          for (const key of keys) looseBytes.delete(key)
        }),

      insertUpload: (upload) => Effect.sync(() => void uploads.set(upload.upload_id, { upload, parts: new Map() })),
      getUpload: (envId, id, now) =>
        Effect.map(
          findUpload(envId, id, ({ upload }) => upload.expires_at > now),
          ({ upload }) => upload
        ),
      putPart: (envId, id, part, { org_id, storage_bytes }) =>
        Effect.map(findUpload(envId, id), ({ parts }) => {
          const replaced = parts.get(part.part_number)?.size ?? 0
          if (isOver(storage_bytes, used(org_id) - replaced + part.size)) return false
          parts.set(part.part_number, part)
          return true
        }),
      parts: (envId, id) =>
        findUpload(envId, id).pipe(
          Effect.map(partsOf),
          Effect.catchTag("NotFound", () => Effect.succeed([]))
        ),
      completeUpload: (id, file, terms) =>
        Effect.map(findUpload(file.env_id, id), (row) => {
          const stored = storeFile(file, terms, partsOf(row))
          if (stored._tag === "Stored") uploads.delete(id)
          return stored
        }),
      removeUpload: (envId, id) => Effect.map(findUpload(envId, id), () => void uploads.delete(id)),
      expiredUploads: (now, limit, after) =>
        Effect.sync(() =>
          [...uploads.values()]
            .map(({ upload }) => upload)
            .filter((upload) => upload.expires_at <= now && (after === null || byExpiry(after, upload) < 0))
            .sort(byExpiry)
            .slice(0, limit)
        )
    })
  })
)

const noSuchFile = new NotFound({ resource: "file" })
const noSuchUpload = new NotFound({ resource: "upload" })

const isAt = (envId: EnvId, path: string) => (file: File) => file.env_id === envId && file.path === path

const isListed = (path: string, { prefix = "", only }: FileFilter): boolean =>
  path.startsWith(prefix) && (only === undefined || only.some((name) => isNamed(path, name)))

const isNamed = (path: string, name: string): boolean =>
  path === name || (name.endsWith("/*") && path.startsWith(name.slice(0, -1)))

const sizeOf = (kept: ReadonlyArray<{ readonly size: number }>): number => kept.reduce((sum, { size }) => sum + size, 0)

const partsOf = ({ parts }: UploadRow): ReadonlyArray<UploadedPart> =>
  [...parts.values()].sort((a, b) => a.part_number - b.part_number)

const byPath = (a: File, b: File): number => Bytes.Order(utf8Encode(a.path), utf8Encode(b.path))

const byExpiry = (a: UploadRow["upload"], b: UploadRow["upload"]): number =>
  a.expires_at - b.expires_at || compareText(a.upload_id, b.upload_id)
