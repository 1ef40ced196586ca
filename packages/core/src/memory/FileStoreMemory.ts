/** `FileStore` in memory: the executable specification. */
import { Bytes, Effect, Layer } from "effect"
import { NotFound } from "../foundation/Errors.ts"
import type { EnvId, OrgId, UploadId } from "../foundation/Ids.ts"
import type { Timestamp } from "../foundation/time/Timestamp.ts"
import { utf8Encode } from "../foundation/Utf8.ts"
import type { File } from "../resources/files/File.ts"
import { type FileFilter, FileStore, type Stored, type StoreTerms } from "../resources/files/FileStore.ts"
import type { UploadedPart } from "../resources/files/MultipartUpload.ts"
import { checkStore, exceedsLimit, toReplacement } from "../resources/files/StoreRules.ts"
import { compareText, MemoryDatabase, toPage, type UploadRow } from "./MemoryDatabase.ts"

export const layer: Layer.Layer<FileStore, never, MemoryDatabase> = Layer.effect(
  FileStore,
  Effect.gen(function* () {
    const { envs, files, uncommittedBlobs, uploads } = yield* MemoryDatabase

    const findFile = (matches: (file: File) => boolean) =>
      Effect.suspend(() => {
        const found = [...files.values()].find(matches)
        return found === undefined ? Effect.fail(noSuchFile) : Effect.succeed(found)
      })

    const findUpload = (envId: EnvId, id: UploadId, matches: (row: UploadRow) => boolean = () => true) =>
      Effect.suspend(() => {
        const row = uploads.get(id)
        return row === undefined || row.upload.env_id !== envId || !matches(row)
          ? Effect.fail(noSuchUpload)
          : Effect.succeed(row)
      })

    const used = (orgId: OrgId): number => {
      const isOfOrg = ({ env_id }: { readonly env_id: EnvId }) => envs.get(env_id)?.org_id === orgId
      const kept = [...files.values()].filter(isOfOrg)
      const parts = [...uploads.values()].filter((row) => isOfOrg(row.upload)).flatMap(listParts)
      return sumSizes(kept) + sumSizes(parts)
    }

    const markUncommitted = (key: string, until: Timestamp) => {
      if (uncommittedBlobs.get(key)?.taken !== true) uncommittedBlobs.set(key, { until, taken: false })
    }

    const storeFile = (file: File, terms: StoreTerms, parts: ReadonlyArray<UploadedPart>): Stored => {
      const old = [...files.values()].find(isAt(file.env_id, file.path)) ?? null
      const refusal = checkStore(file, terms, {
        isReserved: uncommittedBlobs.get(file.storage_path)?.taken === false,
        old,
        used: used(terms.org_id),
        parts: sumSizes(parts)
      })
      if (refusal !== null) return refusal
      const stored = toReplacement(file, old)
      files.set(stored.file_id, stored)
      uncommittedBlobs.delete(file.storage_path)
      if (old !== null) markUncommitted(old.storage_path, terms.reclaimAt)
      return { _tag: "Stored", file: stored }
    }

    return FileStore.of({
      get: (envId, id) => findFile((file) => file.env_id === envId && file.file_id === id),
      find: (envId, path) => findFile(isAt(envId, path)),
      list: (envId, page, filter) =>
        Effect.sync(() =>
          toPage(
            [...files.values()].filter((file) => file.env_id === envId && isListed(file.path, filter)).sort(byPath),
            page
          )
        ),
      storageBytes: (orgId) => Effect.sync(() => used(orgId)),

      reserve: (key, until) => Effect.sync(() => markUncommitted(key, until)),
      extend: (key, until) =>
        Effect.sync(() => {
          if (uncommittedBlobs.get(key)?.taken !== false) return false
          uncommittedBlobs.set(key, { until, taken: false })
          return true
        }),
      store: (file, terms) => Effect.sync(() => storeFile(file, terms, [])),
      remove: (envId, id, reclaimAt) =>
        Effect.map(
          findFile((file) => file.env_id === envId && file.file_id === id),
          (file) => {
            files.delete(id)
            markUncommitted(file.storage_path, reclaimAt)
          }
        ),
      claimExpired: (now, retryAt, limit) =>
        Effect.sync(() => {
          const taken = [...uncommittedBlobs]
            .filter(([, { until }]) => until <= now)
            .sort(([a, { until }], [b, other]) => until - other.until || compareText(a, b))
            .slice(0, limit)
            .map(([key]) => key)
          for (const key of taken) uncommittedBlobs.set(key, { until: retryAt, taken: true })
          return taken
        }),
      release: (keys) =>
        Effect.sync(() => {
          for (const key of keys) uncommittedBlobs.delete(key)
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
          if (exceedsLimit(storage_bytes, used(org_id) - replaced + part.size)) return false
          parts.set(part.part_number, part)
          return true
        }),
      parts: (envId, id) =>
        findUpload(envId, id).pipe(
          Effect.map(listParts),
          Effect.catchTag("NotFound", () => Effect.succeed([]))
        ),
      completeUpload: (id, file, terms) =>
        Effect.map(findUpload(file.env_id, id), (row) => {
          const stored = storeFile(file, terms, listParts(row))
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

const sumSizes = (kept: ReadonlyArray<{ readonly size: number }>): number =>
  kept.reduce((sum, { size }) => sum + size, 0)

const listParts = ({ parts }: UploadRow): ReadonlyArray<UploadedPart> =>
  [...parts.values()].sort((a, b) => a.part_number - b.part_number)

const byPath = (a: File, b: File): number => Bytes.Order(utf8Encode(a.path), utf8Encode(b.path))

const byExpiry = (a: UploadRow["upload"], b: UploadRow["upload"]): number =>
  a.expires_at - b.expires_at || compareText(a.upload_id, b.upload_id)
