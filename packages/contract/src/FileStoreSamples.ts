/** Sample files and uploads, and the terms of storing them. */
import {
  File,
  FileId,
  FileStore,
  MultipartUpload,
  type StoreTerms,
  TenantStore,
  UploadedPart,
  UploadId
} from "@weft/core/adapter"
import { Effect } from "effect"
import { at, env, envId, org, orgId } from "./Samples.ts"

const uuid = (kind: string, n: number): string => `01976a2b-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`

export const fileId = (n: number): FileId => FileId.make(uuid("000b", n))
export const uploadId = (n: number): UploadId => UploadId.make(uuid("000c", n))

export const blobKey = (n: number): string => `files/${n}`

/** File `n` of environment 1, `100 + n` bytes. */
export const file = (n: number, fields: Partial<File> = {}): File =>
  File.make({
    file_id: fileId(n),
    env_id: envId(1),
    path: `path/${n}`,
    size: 100 + n,
    etag: `"etag${n}"`,
    content_type: "text/plain; charset=utf-8",
    storage_backend: "memory",
    storage_path: blobKey(n),
    checksum: null,
    created_by_run_id: null,
    updated_by_run_id: null,
    created_at: at(n),
    updated_at: at(n),
    ...fields
  })

/** An upload to environment 1 that is open until `at(1000)`. */
export const upload = (n: number, fields: Partial<MultipartUpload> = {}): MultipartUpload =>
  MultipartUpload.make({
    upload_id: uploadId(n),
    env_id: envId(1),
    path: `upload/${n}`,
    content_type: "application/octet-stream",
    expected_size: null,
    part_size: 8 * 1024 ** 2,
    parts_expected: 1,
    storage_path: blobKey(n),
    storage_parts: `parts-${n}`,
    run_id: null,
    expires_at: at(1000),
    created_at: at(n),
    ...fields
  })

export const part = (part_number: number, size: number, etag = `"part${part_number}"`): UploadedPart =>
  UploadedPart.make({ part_number, size, etag })

/** Terms that allow everything. */
export const terms = (fields: Partial<StoreTerms> = {}): StoreTerms => ({
  org_id: orgId(1),
  storage_bytes: -1,
  mayCreate: true,
  mayReplace: true,
  reclaimAt: at(500),
  ...fields
})

/** An organization with the environments 1 and 2, and another one with environment 3. */
export const setUp = Effect.gen(function* () {
  const tenants = yield* TenantStore
  yield* tenants.insertOrg(org(1))
  yield* tenants.insertOrg(org(2))
  for (const n of [1, 2]) yield* tenants.insertEnv(env(n))
  yield* tenants.insertEnv(env(3, { org_id: orgId(2) }))
  return yield* FileStore
})

/** Reserves the key of a file, and stores the file. */
export const put = Effect.fnUntraced(function* (stored: File, on: StoreTerms = terms()) {
  const store = yield* FileStore
  yield* store.reserve(stored.storage_path, at(100))
  return yield* store.store(stored, on)
})

/** Reserves the key of an upload, and opens the upload. */
export const begin = Effect.fnUntraced(function* (opened: MultipartUpload) {
  const store = yield* FileStore
  yield* store.reserve(opened.storage_path, at(1060))
  yield* store.insertUpload(opened)
})

/** The file of the completed upload `n`. */
export const assembled = (n: number, size: number, fields: Partial<File> = {}): File =>
  file(n, { path: `upload/${n}`, size, ...fields })
