/** The methods of `FileStore` for multipart uploads. */
import { type EnvId, NotFound } from "@weft/core"
import {
  exceedsLimit,
  type FileStore,
  type MultipartUpload,
  type UploadedPart,
  type UploadId
} from "@weft/core/adapter"
import { Effect } from "effect"
import { type Database, onlyRow, orUnavailable } from "./Database.ts"
import type { FileWrites } from "./FileWrites.ts"
import type { OrgStorage } from "./OrgStorage.ts"

type UploadMethods = Pick<
  FileStore["Service"],
  "insertUpload" | "getUpload" | "putPart" | "parts" | "completeUpload" | "removeUpload" | "expiredUploads"
>

export const uploadStore = (
  { reader, writer }: Database["Service"],
  storage: OrgStorage,
  { store }: FileWrites
): UploadMethods => {
  const require = (envId: EnvId, id: UploadId) =>
    onlyRow(writer`SELECT 1 FROM uploads WHERE env_id = ${envId} AND upload_id = ${id}`, noSuchUpload)

  const partBytes = (id: UploadId) =>
    Effect.map(
      writer<{ n: number | null }>`SELECT sum(size) AS n FROM upload_parts WHERE upload_id = ${id}`,
      ([row]) => row?.n ?? 0
    )

  const end = (envId: EnvId, id: UploadId) =>
    Effect.andThen(
      writer`DELETE FROM upload_parts WHERE upload_id = ${id}`,
      writer`DELETE FROM uploads WHERE env_id = ${envId} AND upload_id = ${id}`
    )

  const putPart: UploadMethods["putPart"] = (envId, id, part, { org_id, storage_bytes }) =>
    writer
      .withTransaction(
        Effect.gen(function* () {
          const { part_number, size, etag } = part
          const used = yield* storage.lock(org_id)
          yield* require(envId, id)
          const [old] = yield* writer<UploadedPart>`
            SELECT size FROM upload_parts WHERE upload_id = ${id} AND part_number = ${part_number}`
          const more = size - (old?.size ?? 0)
          if (exceedsLimit(storage_bytes, used + more)) return false
          yield* writer`INSERT INTO upload_parts ${writer.insert({ upload_id: id, part_number, size, etag })}
            ON CONFLICT (upload_id, part_number) DO UPDATE SET size = excluded.size, etag = excluded.etag`
          yield* storage.add(org_id, more)
          return true
        })
      )
      .pipe(orUnavailable("putPart"))

  const completeUpload: UploadMethods["completeUpload"] = (id, file, terms) =>
    writer
      .withTransaction(
        Effect.gen(function* () {
          const used = yield* storage.lock(terms.org_id)
          yield* require(file.env_id, id)
          const stored = yield* store(file, terms, used, yield* partBytes(id))
          if (stored._tag === "Stored") yield* end(file.env_id, id)
          return stored
        })
      )
      .pipe(orUnavailable("completeUpload"))

  const remove = Effect.fnUntraced(function* (envId: EnvId, id: UploadId) {
    const orgId = yield* storage.findOrg(envId)
    if (orgId === undefined) return yield* noSuchUpload
    yield* storage.lock(orgId)
    yield* require(envId, id)
    yield* storage.add(orgId, -(yield* partBytes(id)))
    yield* end(envId, id)
  })

  return {
    insertUpload: (upload) =>
      Effect.asVoid(writer`INSERT INTO uploads ${writer.insert({ ...upload })}`).pipe(orUnavailable("insertUpload")),

    getUpload: (envId, id, now) =>
      onlyRow(
        reader<MultipartUpload>`SELECT * FROM uploads
          WHERE env_id = ${envId} AND upload_id = ${id} AND expires_at > ${now}`,
        noSuchUpload
      ).pipe(orUnavailable("getUpload")),

    putPart,

    parts: (envId, id) =>
      reader<UploadedPart>`SELECT p.part_number, p.size, p.etag
        FROM uploads u JOIN upload_parts p ON p.upload_id = u.upload_id
        WHERE u.env_id = ${envId} AND u.upload_id = ${id} ORDER BY p.part_number`.pipe(orUnavailable("parts")),

    completeUpload,

    removeUpload: (envId, id) => writer.withTransaction(remove(envId, id)).pipe(orUnavailable("removeUpload")),

    expiredUploads: (now, limit, after) => {
      const rest =
        after === null ? reader`1 = 1` : reader`(expires_at, upload_id) > (${after.expires_at}, ${after.upload_id})`
      return reader<MultipartUpload>`SELECT * FROM uploads WHERE expires_at <= ${now} AND ${rest}
        ORDER BY expires_at, upload_id LIMIT ${limit}`.pipe(orUnavailable("expiredUploads"))
    }
  }
}

const noSuchUpload = new NotFound({ resource: "upload" })
