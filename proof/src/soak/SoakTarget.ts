/** The targets of a soak: the reference server on SQLite, or three nodes on one PostgreSQL. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Query, Row } from "@weft/bench/instruments"
import type { Reachable, Target } from "../nodes/Client.ts"
import { openCluster } from "../nodes/Cluster.ts"
import { startNode } from "../nodes/NodeProcess.ts"

export interface SoakTarget extends Target {
  readonly what: string
  readonly adminToken: string
  readonly query: Query
  /** Returns sizes by name. */
  readonly sizes: () => Promise<Readonly<Record<string, number>>>
  /** Returns the names of all tables. */
  readonly tables: () => Promise<ReadonlyArray<string>>
  /** Folder of the nodes' output, which is not deleted. */
  readonly logs: string
  readonly close: () => Promise<void>
}

export interface SoakTargetOptions {
  readonly variables: Readonly<Record<string, string>>
}

const MiB = 1024 ** 2

const newToken = (): string => `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`

export const openSqliteTarget = async ({ variables }: SoakTargetOptions): Promise<SoakTarget> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-soak-"))
  const logs = mkdtempSync(join(tmpdir(), "weft-soak-log-"))
  const [key, adminToken] = [newToken(), randomUUID()]
  const node = await startNode({
    variables: { ...variables, WEFT_DATA_DIR: dir, WEFT_API_KEY: key, WEFT_ADMIN_TOKEN: adminToken },
    log: join(logs, "node.log")
  })
  const slots: ReadonlyArray<Reachable> = [{ name: "server", node, isDraining: false }]
  const file = join(dir, "weft.db")
  const database = new DatabaseSync(file, { readOnly: true })
  const query: Query = async (text, parameters = []) =>
    database
      .prepare(text.replaceAll("::bigint", ""))
      .all(Object.fromEntries(parameters.map((value, index) => [`$${index + 1}`, String(value)])))
      .map((row): Row => ({ ...row }))
  return {
    what: "the reference server on SQLite, files in a folder",
    slots,
    key,
    adminToken,
    query,
    logs,
    sizes: async () => ({
      "database, MiB": statSync(file).size / MiB,
      "write-ahead log, MiB": (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / MiB
    }),
    tables: () =>
      readNames(query, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"),
    close: async () => {
      database.close()
      node.signal("SIGKILL")
      await node.exited
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

export const openClusterTarget = async ({ variables }: SoakTargetOptions): Promise<SoakTarget> => {
  const adminToken = randomUUID()
  const cluster = await openCluster({
    nodes: 3,
    storage: "folder",
    variables: {
      ...variables,
      WEFT_ADMIN_TOKEN: adminToken,
      WEFT_MASTER_KEY: randomBytes(32).toString("base64")
    }
  })
  const { slots, key, query, logs } = cluster
  return {
    what: "3 nodes on one durable PostgreSQL, files in a shared folder",
    slots,
    key,
    adminToken,
    query,
    logs,
    sizes: async () => {
      const [row] = await query(
        `SELECT pg_database_size(current_database()) AS bytes,
          (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections`
      )
      // The connection of this query does not count.
      return { "database, MiB": Number(row?.bytes) / MiB, "connections to PostgreSQL": Number(row?.connections) - 1 }
    },
    tables: () =>
      readNames(
        query,
        `SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = 'weft' AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`
      ),
    close: cluster.close
  }
}

const readNames = async (query: Query, text: string): Promise<ReadonlyArray<string>> =>
  (await query(text)).map(({ name }) => String(name))
