/** Files, multipart uploads, and reservations of blob keys that no file uses. */
import type { Dialect } from "../Dialect.ts"

export const files = ({ types: { text, integer }, table, clusteredTable }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE files (
    file_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, path ${text} NOT NULL, size ${integer} NOT NULL,
    etag ${text} NOT NULL, content_type ${text} NOT NULL, storage_backend ${text} NOT NULL,
    storage_path ${text} NOT NULL, created_by_run_id ${text}, updated_by_run_id ${text},
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, UNIQUE (env_id, path)
  )${table}`,
  `CREATE TABLE uploads (
    upload_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, path ${text} NOT NULL, content_type ${text} NOT NULL,
    expected_size ${integer}, part_size ${integer} NOT NULL, parts_expected ${integer} NOT NULL,
    storage_path ${text} NOT NULL, storage_parts ${text} NOT NULL, run_id ${text},
    expires_at ${integer} NOT NULL, created_at ${integer} NOT NULL
  )${table}`,
  `CREATE INDEX uploads_by_expiry ON uploads (expires_at, upload_id)`,
  `CREATE TABLE upload_parts (
    upload_id ${text} NOT NULL, part_number ${integer} NOT NULL, size ${integer} NOT NULL, etag ${text} NOT NULL,
    PRIMARY KEY (upload_id, part_number)
  )${clusteredTable}`,
  // Blob keys, the end of their reservation, and 1 in `taken` once garbage collection has claimed them.
  `CREATE TABLE loose_bytes (
    storage_path ${text} PRIMARY KEY, until ${integer} NOT NULL, taken ${integer} NOT NULL
  )${clusteredTable}`,
  `CREATE INDEX loose_bytes_by_age ON loose_bytes (until, storage_path)`,
  // Bytes of files and parts. Every transaction that changes them locks this row first, so that they are serialized.
  `CREATE TABLE org_storage (org_id ${text} PRIMARY KEY, bytes ${integer} NOT NULL)${clusteredTable}`
]
