/** The fields of the specification's records, in the order of its tables, and comparisons with responses. */
import { assert } from "@effect/vitest"
import type { Reply, TestServer } from "../server/TestServer.ts"

const build = [
  "build_id",
  "project_id",
  "hash",
  "size",
  "build_type",
  "deployed",
  "active",
  "created_at",
  "updated_at",
  "storage_path",
  "storage_backend"
]

const uploadedFile = ["file_id", "path", "size", "etag", "content_type", "storage_backend", "created_at", "updated_at"]

export const fields = {
  project: ["project_id", "env_id", "name", "active", "created_at", "updated_at"],
  build,
  uploadedBuild: ["build_id", "project_id", "hash", "size", "storage_path", "storage_backend", "created_at"],
  event: ["event_id", "env_id", "stream_id", "event_type", "event_data", "event_time", "created_at"],
  run: [
    "run_id",
    "env_id",
    "stream_id",
    "build_id",
    "run_type",
    "status",
    "start_time",
    "stop_time",
    "origin_run_id",
    "event_id",
    "result",
    "project_id",
    "project_name"
  ],
  usage: ["ns", "var", "attempt", "cpu_ms", "wall_ms", "heap_bytes"],
  stats: ["total_runs", "running", "succeeded", "failed", "cancelled"],
  handler: ["event_handler_id", "build_id", "event_type", "ns", "var"],
  schedule: ["schedule_id", "build_id", "cron", "ns", "var"],
  variable: ["key", "description", "created_at", "updated_at"],
  file: [...uploadedFile, "created_by_run_id", "updated_by_run_id"],
  uploadedFile,
  upload: ["upload_id", "path", "part_size", "parts_expected", "expires_at"],
  part: ["part_number", "size", "etag"],
  session: ["session_id", "permissions", "metadata", "expires_at", "created_at"],
  serviceKey: [
    "service_key_id",
    "name",
    "description",
    "permissions",
    "metadata",
    "created_at",
    "expires_at",
    "revoked_at",
    "active"
  ],
  domain: [
    "domain_id",
    "env_id",
    "domain",
    "status",
    "validation_cname_name",
    "validation_cname_value",
    "routing_domain",
    "created_at"
  ],
  verification: ["domain_id", "domain", "status", "message"],
  env: ["env_id", "org_id", "name", "active"],
  status: ["status", "service", "version", "git_sha", "start_time"]
} as const satisfies Record<string, ReadonlyArray<string>>

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const instants = /_(at|time)$|^(time|timestamp)$/

/** Asserts that a record has exactly these fields, UUIDs as ids, and ISO 8601 instants in UTC. */
export const checkRecord = (record: Readonly<Record<string, unknown>>, names: ReadonlyArray<string>): void => {
  assert.sameMembers(Object.keys(record), [...names])
  for (const [name, value] of Object.entries(record)) {
    if (value === null || typeof value !== "string") continue
    if (name.endsWith("_id")) assert.match(value, uuid, name)
    if (instants.test(name)) assert.match(value, instant, name)
  }
}

/** Asserts the envelope of one item, and returns the item. */
export const single = (reply: Reply, status: number, names: ReadonlyArray<string>) => {
  assert.strictEqual(reply.status, status, reply.text)
  assert.deepStrictEqual(Object.keys(reply.json), ["data", "meta"])
  checkRecord(reply.json.meta, ["request_id", "timestamp"])
  checkRecord(reply.json.data, names)
  return reply.json.data
}

/** Asserts the envelope of a non-empty list, and returns its items. */
export const list = (reply: Reply, names: ReadonlyArray<string>) => {
  assert.strictEqual(reply.status, 200, reply.text)
  assert.deepStrictEqual(Object.keys(reply.json), ["data", "pagination", "meta"])
  checkRecord(reply.json.meta, ["request_id", "timestamp"])
  const { total, limit, offset, has_more } = reply.json.pagination
  assert.deepStrictEqual(Object.keys(reply.json.pagination), ["total", "limit", "offset", "has_more"])
  assert.strictEqual(has_more, offset + reply.json.data.length < total)
  assert.isAtMost(reply.json.data.length, limit)
  assert.isNotEmpty(reply.json.data)
  for (const record of reply.json.data) checkRecord(record, names)
  return reply.json.data
}

/** Asserts an error with its code, in the envelope, and returns the message. */
export const refused = (reply: Reply, status: number, code: string): string => {
  assert.strictEqual(reply.status, status, reply.text)
  assert.strictEqual(reply.json.error.code, code)
  return reply.json.error.message
}

/** Repeats a request until the response satisfies the predicate, because runs follow their events asynchronously. */
export const eventually = async (
  server: TestServer,
  path: string,
  isWanted: (reply: Reply) => boolean
): Promise<Reply> => {
  for (let round = 0; round < 200; round++) {
    const reply = await server.call("GET", path)
    if (isWanted(reply)) return reply
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${path} did not return the expected response in time`)
}
