/** The first tables: tenants, code, runs. */
import type { Dialect } from "../Dialect.ts"

export const init = (dialect: Dialect): ReadonlyArray<string> => [
  ...tenancy(dialect),
  ...code(dialect),
  ...running(dialect)
]

const tenancy = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE orgs (
    org_id ${text} PRIMARY KEY, slug ${text} NOT NULL UNIQUE, name ${text} NOT NULL, plan ${text} NOT NULL,
    members ${integer} NOT NULL, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL
  )${table}`,
  `CREATE TABLE envs (
    env_id ${text} PRIMARY KEY, org_id ${text} NOT NULL, name ${text} NOT NULL, active ${integer} NOT NULL,
    created_at ${integer} NOT NULL, UNIQUE (org_id, name)
  )${table}`,
  `CREATE TABLE api_keys (
    api_key_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, name ${text} NOT NULL, enabled ${integer} NOT NULL,
    permissions ${text} NOT NULL, secret_hash ${text} NOT NULL,
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL
  )${table}`,
  `CREATE INDEX api_keys_of_env ON api_keys (env_id, created_at, api_key_id)`
]

const code = ({ types: { text, integer }, table }: Dialect): ReadonlyArray<string> => [
  `CREATE TABLE projects (
    project_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, name ${text} NOT NULL, active ${integer} NOT NULL,
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, UNIQUE (env_id, name)
  )${table}`,
  `CREATE TABLE builds (
    build_id ${text} PRIMARY KEY, project_id ${text} NOT NULL, env_id ${text} NOT NULL, hash ${text} NOT NULL,
    size ${integer} NOT NULL, build_type ${text} NOT NULL, active ${integer} NOT NULL,
    created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
    storage_path ${text} NOT NULL, storage_backend ${text} NOT NULL
  )${table}`,
  `CREATE INDEX builds_of_env ON builds (env_id, created_at, build_id)`,
  `CREATE TABLE deployments (
    project_id ${text} PRIMARY KEY, env_id ${text} NOT NULL, build_id ${text} NOT NULL, manifest ${text} NOT NULL
  )${table}`,
  `CREATE INDEX deployments_of_env ON deployments (env_id)`,
  `CREATE TABLE endpoints (
    env_id ${text} NOT NULL, method ${text} NOT NULL, service ${text} NOT NULL, path ${text} NOT NULL,
    project_id ${text} NOT NULL, PRIMARY KEY (env_id, method, service, path)
  )${table}`,
  `CREATE INDEX endpoints_of_project ON endpoints (project_id)`
]

const running = (dialect: Dialect): ReadonlyArray<string> => {
  const { types, table, clusteredTable, partitionedTable, defaultPartition } = dialect
  const { text, integer, real } = types
  return [
    `CREATE TABLE events (
      env_id ${text} NOT NULL, event_id ${text} NOT NULL, stream_id ${text} NOT NULL, event_type ${text} NOT NULL,
      event_time ${integer} NOT NULL, created_at ${integer} NOT NULL, event_data ${text} NOT NULL,
      PRIMARY KEY (env_id, event_id)
    )${partitionedTable("event_id")}`,
    ...defaultPartition("events"),
    // Large columns are last: a row is read up to the last selected column.
    `CREATE TABLE runs (
      env_id ${text} NOT NULL, run_id ${text} NOT NULL, stream_id ${text} NOT NULL, project_id ${text} NOT NULL,
      project_name ${text} NOT NULL, build_id ${text} NOT NULL, ns ${text} NOT NULL, var ${text} NOT NULL,
      run_type ${text} NOT NULL, status ${text} NOT NULL, start_time ${integer} NOT NULL, stop_time ${integer},
      origin_run_id ${text}, event_id ${text}, attempt ${integer} NOT NULL, node_id ${text} NOT NULL,
      cpu_ms ${real}, wall_ms ${real}, heap_bytes ${integer},
      delivery_id ${text}, first_run_id ${text}, terms ${text},
      result ${text}, logs ${text},
      PRIMARY KEY (env_id, run_id)
    )${partitionedTable("run_id")}`,
    ...defaultPartition("runs"),
    `CREATE INDEX runs_of_event ON runs (env_id, event_id) WHERE event_id IS NOT NULL`,
    // A partial index for each state except `succeeded`: most runs have no entry.
    ...["running", "failed", "cancelled"].map(
      (status) => `CREATE INDEX runs_${status} ON runs (env_id, run_id) WHERE status = '${status}'`
    ),
    // Deliveries that wait for an attempt. `terms` holds retry, timeout_ms, caused_by and depth.
    `CREATE TABLE deliveries (
      env_id ${text} NOT NULL, due_at ${integer} NOT NULL, delivery_id ${text} NOT NULL, event_id ${text} NOT NULL,
      stream_id ${text} NOT NULL, project_id ${text} NOT NULL, project_name ${text} NOT NULL, build_id ${text} NOT NULL,
      ns ${text} NOT NULL, var ${text} NOT NULL, run_type ${text} NOT NULL, attempt ${integer} NOT NULL,
      first_run_id ${text}, terms ${text} NOT NULL,
      PRIMARY KEY (env_id, due_at, delivery_id)
    )${clusteredTable}`,
    `CREATE TABLE leases (node_id ${text} PRIMARY KEY, until ${integer} NOT NULL)${table}`,
    `CREATE TABLE event_counts (
      env_id ${text} NOT NULL, event_type ${text} NOT NULL, n ${integer} NOT NULL, PRIMARY KEY (env_id, event_type)
    )${clusteredTable}`,
    // Counts of ended runs. Running ones are few and counted by queries.
    `CREATE TABLE run_counts (
      env_id ${text} NOT NULL, project_id ${text} NOT NULL, project_name ${text} NOT NULL, run_type ${text} NOT NULL,
      status ${text} NOT NULL, n ${integer} NOT NULL,
      PRIMARY KEY (env_id, project_id, project_name, run_type, status)
    )${clusteredTable}`
  ]
}
