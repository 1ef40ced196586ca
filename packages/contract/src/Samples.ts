/**
 * Sample records, the same in every run.
 *
 * Ids are UUIDv7 that sort by their numbers. Instants are milliseconds after `start`.
 */
import { Env, EnvId, Org, OrgId, type PageRequest } from "@weft/core"
import {
  ApiKey,
  ApiKeyId,
  Build,
  BuildId,
  Delivery,
  DeliveryId,
  Event,
  EventId,
  type JournalEntry,
  JsonText,
  type LogEntry,
  type Manifest,
  NodeId,
  noRetry,
  PermissionMap,
  Project,
  ProjectId,
  Run,
  RunId,
  StreamId,
  Timestamp
} from "@weft/core/adapter"

const start = 1_750_000_000_000

/** Returns the instant `millis` after `start`. */
export const at = (millis: number): Timestamp => Timestamp.make(start + millis)

/** Returns an id whose time is the minute before `start`. */
const uuid = (kind: string, n: number): string => `01977420-${kind}-7000-8000-${n.toString(16).padStart(12, "0")}`

export const orgId = (n: number): OrgId => OrgId.make(uuid("0001", n))
export const envId = (n: number): EnvId => EnvId.make(uuid("0002", n))
export const apiKeyId = (n: number): ApiKeyId => ApiKeyId.make(uuid("0003", n))
export const projectId = (n: number): ProjectId => ProjectId.make(uuid("0004", n))
export const buildId = (n: number): BuildId => BuildId.make(uuid("0005", n))
export const streamId = (n: number): StreamId => StreamId.make(uuid("0006", n))
export const eventId = (n: number): EventId => EventId.make(uuid("0007", n))
export const runId = (n: number): RunId => RunId.make(uuid("0008", n))
export const deliveryId = (n: number): DeliveryId => DeliveryId.make(uuid("0009", n))
export const nodeId = (n: number): NodeId => NodeId.make(uuid("000a", n))

/** Returns `count` ids from `first` on, ascending. */
export const runIds = (first: number, count: number): ReadonlyArray<RunId> =>
  Array.from({ length: count }, (_, index) => runId(first + index))

export const everything: PageRequest = { limit: 100, offset: 0 }

type Fields<A> = { readonly [K in keyof A]?: A[K] }

export const org = (n: number, fields: Fields<Org> = {}): Org =>
  new Org({
    org_id: orgId(n),
    slug: `org-${n}`,
    name: `Organization ${n}`,
    plan: "Self-Host",
    members: 1,
    created_at: at(n),
    updated_at: at(n),
    ...fields
  })

export const env = (n: number, fields: Fields<Env> = {}): Env =>
  new Env({ env_id: envId(n), org_id: orgId(1), name: `env-${n}`, active: true, created_at: at(n), ...fields })

export const apiKey = (n: number, fields: Fields<ApiKey> = {}): ApiKey =>
  new ApiKey({
    api_key_id: apiKeyId(n),
    env_id: envId(1),
    name: `key ${n}`,
    enabled: true,
    permissions: PermissionMap.make({ "*:*": ["*"] }),
    secret_hash: "0".repeat(64),
    created_at: at(n),
    updated_at: at(n),
    ...fields
  })

export const project = (n: number, fields: Fields<Project> = {}): Project =>
  new Project({
    project_id: projectId(n),
    env_id: envId(1),
    name: `project ${n}`,
    active: true,
    created_at: at(n),
    updated_at: at(n),
    ...fields
  })

/** A build of project 1 of environment 1. */
export const build = (n: number, fields: Fields<Build> = {}): Build =>
  new Build({
    build_id: buildId(n),
    project_id: projectId(1),
    project_name: "project 1",
    env_id: envId(1),
    hash: "ab".repeat(32),
    size: 1000 + n,
    build_type: "bundle",
    deployed: false,
    active: true,
    created_at: at(n),
    updated_at: at(n),
    storage_path: `builds/${n}`,
    storage_backend: "memory",
    ...fields
  })

export const emptyManifest: Manifest = {
  functions: [],
  handlers: [],
  schedules: [],
  endpoints: [],
  tools: [],
  resources: [],
  prompts: []
}

/** A manifest with endpoints at these paths of one service. */
export const manifestServing = (service: string, ...paths: ReadonlyArray<string>): Manifest => ({
  ...emptyManifest,
  functions: [
    {
      ns: "main",
      var: "hello",
      retry: noRetry,
      timeout_ms: 300_000,
      concurrency: null,
      idempotency: null,
      durable: false
    }
  ],
  endpoints: paths.map((path) => ({
    ns: "main",
    var: "hello",
    service,
    path,
    method: "GET",
    name: "hello",
    description: "says “hello”",
    auth: "none",
    secret_headers: ["x-hub-signature"],
    timeout_ms: 30_000,
    record: "after"
  }))
})

export const event = (n: number, fields: Fields<Event> = {}): Event =>
  Event.make({
    event_id: eventId(n),
    env_id: envId(1),
    stream_id: streamId(n),
    event_type: "order:created",
    event_data: JsonText.make(`{"n":${n}}`),
    event_time: at(n),
    created_at: at(n),
    ...fields
  })

/** A running run without a delivery. */
export const run = (n: number, fields: Fields<Run> = {}): Run =>
  Run.make({
    run_id: runId(n),
    env_id: envId(1),
    stream_id: streamId(n),
    project_id: projectId(1),
    project_name: "project 1",
    build_id: buildId(1),
    ns: "main",
    var: "onOrder",
    run_type: "call",
    status: "running",
    start_time: at(n),
    stop_time: null,
    origin_run_id: null,
    event_id: null,
    event_ids: null,
    attempt: 1,
    result: null,
    node_id: nodeId(1),
    cpu_ms: null,
    wall_ms: null,
    heap_bytes: null,
    activations: null,
    waiting: null,
    steps: null,
    ...fields
  })

export const ended = (running: Run, fields: Fields<Run> = {}): Run =>
  Run.make({
    ...running,
    status: "succeeded",
    stop_time: Timestamp.make(running.start_time + 5),
    result: JsonText.make("null"),
    cpu_ms: 1.25,
    wall_ms: 4.75,
    heap_bytes: 1_000_000,
    ...fields
  })

/** The delivery of event `n`, in the event's environment. */
export const delivery = (n: number, of: Event = event(n), fields: Fields<Delivery> = {}): Delivery =>
  Delivery.make({
    delivery_id: deliveryId(n),
    env_id: of.env_id,
    event_id: of.event_id,
    stream_id: of.stream_id,
    project_id: projectId(1),
    project_name: "project 1",
    build_id: buildId(1),
    ns: "main",
    var: "onOrder",
    run_type: "event",
    retry: noRetry,
    timeout_ms: 300_000,
    group: null,
    attempt: 1,
    due_at: of.created_at,
    caused_by: null,
    depth: 0,
    first_run_id: null,
    durable: false,
    continues: null,
    ...fields
  })

/** A running run that holds the delivery `held`. */
export const runHolding = (n: number, held: Delivery, fields: Fields<Run> = {}): Run =>
  run(n, {
    env_id: held.env_id,
    stream_id: held.stream_id,
    project_id: held.project_id,
    project_name: held.project_name,
    build_id: held.build_id,
    ns: held.ns,
    var: held.var,
    event_id: held.event_id,
    run_type: held.run_type,
    attempt: held.attempt,
    ...fields
  })

/** Event `n` with one pending delivery. */
export const waiting = (n: number, fields: Fields<Event> = {}, of: Fields<Delivery> = {}): JournalEntry => {
  const published = event(n, fields)
  return { _tag: "Appended", event: published, deliveries: [{ delivery: delivery(n, published, of), run: null }] }
}

/** Event `n` with one delivery, claimed on insert by run `n` of node `node`. */
export const claimedOnInsert = (n: number, node = 1, fields: Fields<Event> = {}): JournalEntry => {
  const published = event(n, fields)
  const held = delivery(n, published)
  const claimed = runHolding(n, held, { node_id: nodeId(node) })
  return { _tag: "Appended", event: published, deliveries: [{ delivery: held, run: claimed }] }
}

export const settled = (
  n: number,
  over: Run,
  next: Extract<JournalEntry, { _tag: "Settled" }>["next"] = null,
  logs: ReadonlyArray<LogEntry> = []
): JournalEntry => ({ _tag: "Settled", run: over, logs, deliveryId: deliveryId(n), next })

export const logLine = (seq: number, message = `line ${seq}`, data: string | null = null): LogEntry => ({
  seq,
  time: at(seq),
  level: "info",
  message,
  data: data === null ? null : JsonText.make(data)
})

/** Text that naive quoting, escaping or encoding would corrupt. */
export const hostileText = `'; DROP TABLE runs; -- "quoted" \\back\\ \n\t\r ñ 中文 🧵 \u2028 ${"e\u0301"} %_$1 ? {{}} \\u0041 </script>`

/** JSON text of 1 MiB with characters that need escapes. */
export const bigJson: JsonText = JsonText.make(JSON.stringify({ text: `"\\é🧵\n`.repeat(100_000).slice(0, 700_000) }))
