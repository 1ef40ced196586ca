/** Example values of the document, by the name of the field: one vocabulary, hence one example of each word. */
import {
  BadRequest,
  DomainExists,
  DomainLimitReached,
  Forbidden,
  NotFound,
  PermissionEscalation,
  PlanRequired,
  RateLimited,
  SessionLimitExceeded,
  Unauthorized
} from "@weft/core"
import type { Schema } from "effect"
import { internalMessage } from "../errors/Catalogue.ts"

type Json = Schema.Json

const ids = {
  org_id: "01970d3c-6a00-7c1e-9a41-0c5b8c3f2a01",
  env_id: "01970d3c-6a10-7f02-8d0e-51f0a9b7e602",
  project_id: "01970d3c-7b20-7a63-b5cc-6de2c9a1f403",
  build_id: "01970d3d-0c30-7d84-a3f7-2b9e4d6c8105",
  event_id: "01970d40-1d40-7b15-9c28-8f3a6e5d7206",
  stream_id: "01970d40-1d41-7e26-86b9-4a7c0f1e9307",
  run_id: "01970d40-1e50-7c37-ad4a-7e5b2c8f6408",
  event_handler_id: "01970d3d-2f60-7948-9b1d-3c6a5e0f8509",
  schedule_id: "01970d3d-2f61-7a59-8e2c-5d7b6f1a960a",
  file_id: "01970d41-3a70-7b6a-bf3d-6e8c7a2b070b",
  upload_id: "01970d41-4b80-7c7b-a04e-7f9d8b3c180c",
  session_id: "01970d42-5c90-7d8c-915f-80ae9c4d290d",
  service_key_id: "01970d42-6da0-7e9d-826a-91bfad5e3a0e",
  domain_id: "01970d43-7eb0-7fae-b37b-a2c0be6f4b0f",
  api_key_id: "01970d3c-6a20-78bf-a48c-b3d1cf705c10",
  request_id: "01970d44-8fc0-79c0-959d-c4e2d0816d11"
}

const instant = "2026-01-31T12:00:00.000Z"

const instants = Object.fromEntries(
  ["created_at", "updated_at", "event_time", "start_time", "timestamp", "time", "period_start", "scheduled_time"].map(
    (name) => [name, instant]
  )
)

const records: Readonly<Record<string, Json>> = {
  org: "acme",
  env: "production",
  slug: "acme",
  org_slug: "acme",
  project_id_or_slug: "orders",
  project_name: "orders",
  name: "orders",
  description: "Takes orders",
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  size: 48_213,
  storage_path: "builds/01970d3d-0c30-7d84-a3f7-2b9e4d6c8105.zip",
  storage_backend: "filesystem",
  deployed: true,
  active: true,
  enabled: true,
  event_type: "order:created",
  event_data: { order: 1042, total: 21 },
  delay: "90s",
  "idempotency-key": "order-1042",
  ns: "main",
  var: "onOrder",
  cron: "0 3 * * *",
  run_type: "event",
  status: "succeeded",
  stop_time: "2026-01-31T12:00:00.042Z",
  origin_run_id: null,
  created_by_run_id: null,
  updated_by_run_id: null,
  result: { doubled: 42 },
  attempt: 1,
  cpu_ms: 3.2,
  wall_ms: 41.7,
  heap_bytes: 4_194_304,
  seq: 0,
  level: "info",
  message: "doubled the total",
  data: { total: 42 },
  service: "greeter",
  version: "0.1.0",
  git_sha: "4f2c1a9",
  plan: "Pro",
  members: 3,
  token: "svc_01970d3c-6a20-78bf-a48c-b3d1cf705c10_<secret>",
  permissions: { "event:*": ["create", "read"], "run:*": ["read"] },
  metadata: { customer: "c-17" },
  expires_in: 3600,
  expires_at: "2026-01-31T13:00:00.000Z",
  revoked_at: null,
  revoked_count: 2,
  period_end: "2026-02-28T12:00:00.000Z"
}

const filesAndDomains: Readonly<Record<string, Json>> = {
  path: "invoices/2026/1042.pdf",
  url: "https://weft.example.net/v1/files/01970d3c-…/content?env_id=01970d3a-…&expires=1769864400&signature=…",
  prefix: "invoices/",
  etag: '"5d41402abc4b2a76b9719d911017c592"',
  content_type: "application/pdf",
  expected_size: 10_485_760,
  part_size: 8_388_608,
  parts_expected: 2,
  part_number: 1,
  key: "STRIPE_KEY",
  value: "sk_live_…",
  domain: "hooks.example.com",
  validation_cname_name: "_acme-challenge.hooks.example.com",
  validation_cname_value: "k3v9.validation.weft.example",
  routing_domain: "k3v9.route.weft.example",
  fn: "main/add",
  args: [1, 2],
  wait: 5
}

const pages: Readonly<Record<string, Json>> = {
  total: 1,
  limit: 20,
  offset: 0,
  has_more: false,
  total_runs: 5,
  running: 1,
  succeeded: 3,
  failed: 1,
  cancelled: 0,
  type: "event",
  time_range: "P7D",
  runs_per_month: 1_000_000,
  storage_bytes: 107_374_182_400,
  team_members: 20,
  call_retention_days: 30,
  call_storage_bytes: 53_687_091_200
}

export const fieldExamples: Readonly<Record<string, Json>> = {
  ...ids,
  ...instants,
  ...records,
  ...filesAndDomains,
  ...pages
}

const deployer = { name: "deployer", description: "Deploys from CI" }

/** Fields that mean something else in one component of the document. */
export const componentExamples: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  Status: { status: "ok", service: "weft" },
  Organization: { name: "Acme" },
  OrganizationInput: { name: "Acme" },
  OrganizationChange: { name: "Acme" },
  Environment: { name: "production" },
  OwnEnvironment: { name: "production" },
  EnvironmentInput: { name: "production" },
  ApiKey: { name: "publisher" },
  CreatedApiKey: { name: "publisher" },
  ApiKeyInput: { name: "publisher" },
  ApiKeyChange: { name: "publisher" },
  ContextVariable: { description: "For payments" },
  ContextVariableInput: { description: "For payments" },
  ContextVariableChange: { description: "For payments" },
  CreatedSession: { token: "s_01970d42-5c90-7d8c-915f-80ae9c4d290d_<secret>" },
  ServiceKey: { ...deployer, expires_at: null },
  CreatedServiceKey: {
    ...deployer,
    expires_at: null,
    token: "01970d42-6da0-7e9d-826a-91bfad5e3a0e_<secret>"
  },
  ServiceKeyInput: { ...deployer, expires_in: null },
  OrganizationUsage: {
    usage: {
      runs_this_period: 41_250,
      file_storage_bytes: 5_368_709_120,
      team_members: 7,
      call_storage_bytes: 1_073_741_824,
      call_count: 96_300
    },
    usage_percent: { runs: 4.13, file_storage: 5, team_members: 35, call_storage: 2, has_warning: false },
    plan: { name: "Pro", period_start: "2026-01-01T00:00:00.000Z", period_end: "2026-02-01T00:00:00.000Z" }
  },
  Resealed: { key_id: "5a1c9e07" },
  Domain: { status: "active" },
  AuditEntry: {
    action: "service_key.create",
    actor_type: "api-key",
    actor_id: ids.api_key_id,
    actor_api_key_id: null,
    object_id: ids.service_key_id,
    object_name: "CI",
    address: "203.0.113.7",
    details: { permissions: { "mcp:*": ["execute"] }, expires_at: null }
  },
  DomainVerification: {
    status: "validated",
    message: "The domain is validated. Add a CNAME record for hooks.example.com that points to k3v9.route.weft.example."
  }
}

/** Fields that exclude others, and have no place in an example beside those. */
export const excludingFields: Readonly<Record<string, ReadonlyArray<string>>> = { EventInput: ["deliver_at"] }

const errors = [
  new Unauthorized({}),
  new Forbidden({ permission: "event:order:created create" }),
  new PermissionEscalation({ permission: "build:* create" }),
  new PlanRequired({ reason: "Custom domains need the plan Pro or Scale" }),
  new DomainLimitReached({ limit: 5 }),
  new NotFound({ resource: "project" }),
  new BadRequest({ reason: "name: is missing" }),
  new DomainExists({}),
  new SessionLimitExceeded({ limit: 1000 }),
  new RateLimited({ retryAfterSeconds: 1 })
]

/** A message for every code, as the server words it. */
export const errorMessages: ReadonlyMap<string, string> = new Map([
  ...errors.map(({ code, message }) => [code, message] as const),
  ["internal_server_error", internalMessage]
])
