/** Files and uploads to store, and the terms on which they are. */
import {
  File,
  FileId,
  FileStore,
  MultipartUpload,
  type StoreTerms,
  TenantStore,
  UploadedPart,
  UploadId
} from "@weft/core"
import { Effect } from "effect"
import { at, env, envId, org, orgId } from "./Samples.ts"

const uuid = (kind: string, n: number): string => `01976a2b-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`

export const fileId = (n: number): FileId => FileId.make(uuid("000b", n))
export const uploadId = (n: number): UploadId => UploadId.make(uuid("000c", n))

export const keyOf = (n: number): string => `files/${n}`

/** File `n` of environment 1, 100 bytes and `n` large. */
export const file = (n: number, fields: Partial<File> = {}): File =>
  File.make({
    file_id: fileId(n),
    env_id: envId(1),
    path: `path/${n}`,
    size: 100 + n,
    etag: `"etag${n}"`,
    content_type: "text/plain; charset=utf-8",
    storage_backend: "memory",
    storage_path: keyOf(n),
    created_by_run_id: null,
    updated_by_run_id: null,
    created_at: at(n),
    updated_at: at(n),
    ...fields
  })

/** An upload to environment 1 that is open until 1000 after the start. */
export const upload = (n: number, fields: Partial<MultipartUpload> = {}): MultipartUpload =>
  MultipartUpload.make({
    upload_id: uploadId(n),
    env_id: envId(1),
    path: `upload/${n}`,
    content_type: "application/octet-stream",
    expected_size: null,
    part_size: 8 * 1024 ** 2,
    parts_expected: 1,
    storage_path: keyOf(n),
    storage_parts: `parts-${n}`,
    run_id: null,
    expires_at: at(1000),
    created_at: at(n),
    ...fields
  })

export const part = (part_number: number, size: number, etag = `"part${part_number}"`): UploadedPart =>
  UploadedPart.make({ part_number, size, etag })

/** Everything is allowed. */
export const terms = (fields: Partial<StoreTerms> = {}): StoreTerms => ({
  org_id: orgId(1),
  storage_bytes: -1,
  mayCreate: true,
  mayReplace: true,
  looseUntil: at(500),
  ...fields
})

/** An organization of the environments 1 and 2, and another one of environment 3. */
export const setUp = Effect.gen(function* () {
  const tenants = yield* TenantStore
  yield* tenants.insertOrg(org(1))
  yield* tenants.insertOrg(org(2))
  for (const n of [1, 2]) yield* tenants.insertEnv(env(n))
  yield* tenants.insertEnv(env(3, { org_id: orgId(2) }))
  return yield* FileStore
})

/** Stores a file whose key was announced. */
export const put = Effect.fnUntraced(function* (stored: File, on: StoreTerms = terms()) {
  const store = yield* FileStore
  yield* store.announce(stored.storage_path, at(100))
  return yield* store.store(stored, on)
})

/** Opens an upload whose key was announced. */
export const begin = Effect.fnUntraced(function* (opened: MultipartUpload) {
  const store = yield* FileStore
  yield* store.announce(opened.storage_path, at(1060))
  yield* store.insertUpload(opened)
})

/** The file that upload `n` becomes. */
export const assembled = (n: number, size: number, fields: Partial<File> = {}): File =>
  file(n, { path: `upload/${n}`, size, ...fields })
