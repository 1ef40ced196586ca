/** Files, uploads in parts, and notes of the keys whose bytes no file has. */
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
  // Keys, until when their writer may be at work, and whether the janitor took them.
  `CREATE TABLE loose_bytes (
    storage_path ${text} PRIMARY KEY, until ${integer} NOT NULL, taken ${integer} NOT NULL
  )${clusteredTable}`,
  `CREATE INDEX loose_bytes_by_age ON loose_bytes (until, storage_path)`,
  // Bytes of files and parts. Every transaction that changes them begins with this row, which puts them in a line.
  `CREATE TABLE org_storage (org_id ${text} PRIMARY KEY, bytes ${integer} NOT NULL)${clusteredTable}`
]
