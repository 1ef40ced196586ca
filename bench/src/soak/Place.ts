/** What is soaked: the reference server on SQLite, or three nodes of it on one PostgreSQL. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { Reach, Reachable } from "../nodes/Client.ts"
import { openCluster } from "../nodes/Cluster.ts"
import { startNode } from "../nodes/NodeProcess.ts"
import type { Question, Row } from "../nodes/Question.ts"

export interface Place extends Reach {
  readonly what: string
  readonly adminToken: string
  readonly ask: Question
  /** Bytes of what is stored, by what it is. */
  readonly sizes: () => Promise<Readonly<Record<string, number>>>
  /** Names of all tables with rows of Weft. */
  readonly tables: () => Promise<ReadonlyArray<string>>
  /** Folder of what the nodes wrote; it stays. */
  readonly logs: string
  readonly close: () => Promise<void>
}

export interface PlaceOptions {
  readonly variables: Readonly<Record<string, string>>
}

const MiB = 1024 ** 2

const newToken = (): string => `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`

export const sqlitePlace = async ({ variables }: PlaceOptions): Promise<Place> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-soak-"))
  const logs = mkdtempSync(join(tmpdir(), "weft-soak-log-"))
  const [key, adminToken] = [newToken(), randomUUID()]
  const node = await startNode({
    variables: { ...variables, WEFT_DATA_DIR: dir, WEFT_API_KEY: key, WEFT_ADMIN_TOKEN: adminToken },
    log: join(logs, "node.log")
  })
  const slots: ReadonlyArray<Reachable> = [{ name: "server", node, isLeaving: false }]
  const file = join(dir, "weft.db")
  const database = new DatabaseSync(file, { readOnly: true })
  const ask: Question = async (text, parameters = []) =>
    database
      .prepare(text.replaceAll("::bigint", ""))
      .all(Object.fromEntries(parameters.map((value, index) => [`$${index + 1}`, String(value)])))
      .map((row): Row => ({ ...row }))
  return {
    what: "the reference server on SQLite, files in a folder",
    slots,
    key,
    adminToken,
    ask,
    logs,
    sizes: async () => ({
      "database, MiB": statSync(file).size / MiB,
      "write-ahead log, MiB": (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / MiB
    }),
    tables: () =>
      namesIn(ask, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"),
    close: async () => {
      database.close()
      node.signal("SIGKILL")
      await node.exited
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

export const clusterPlace = async ({ variables }: PlaceOptions): Promise<Place> => {
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
  const { slots, key, ask, logs } = cluster
  return {
    what: "3 nodes on one durable PostgreSQL, files in a folder that they share",
    slots,
    key,
    adminToken,
    ask,
    logs,
    sizes: async () => {
      const [row] = await ask(
        `SELECT pg_database_size(current_database()) AS bytes,
          (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections`
      )
      // The one that asks is not one of Weft's.
      return { "database, MiB": Number(row?.bytes) / MiB, "connections to PostgreSQL": Number(row?.connections) - 1 }
    },
    tables: () =>
      namesIn(
        ask,
        `SELECT c.relname::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = 'weft' AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`
      ),
    close: cluster.close
  }
}

const namesIn = async (ask: Question, text: string): Promise<ReadonlyArray<string>> =>
  (await ask(text)).map(({ name }) => String(name))
