/** Nodes on one PostgreSQL and one blob store, each behind its own proxy to the database. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Query, queryAt, upload } from "@weft/bench/instruments"
import {
  type PostgresServer,
  postgres,
  type S3Server,
  s3Server,
  s3Url,
  type TcpProxy,
  tcpProxy
} from "@weft/tooling/services"
import { type NodeProcess, startNode } from "./NodeProcess.ts"

/** A place for a node. When a node exits, the next one starts there. */
export interface Slot {
  readonly name: string
  readonly proxy: TcpProxy
  /** Null until a node listens. */
  node: NodeProcess | null
  /** True while the node drains; a load balancer would not send requests to it. */
  isDraining: boolean
}

export interface Cluster {
  readonly slots: ReadonlyArray<Slot>
  readonly database: PostgresServer
  readonly query: Query
  /** Token of an API key with all permissions. */
  readonly key: string
  readonly start: (slot: Slot) => Promise<void>
  readonly deploy: (project: string, source: string) => Promise<void>
  /** Folder of the nodes' output, which is not deleted. */
  readonly logs: string
  readonly storage: string
  readonly close: () => Promise<void>
}

export interface ClusterOptions {
  readonly nodes: number
  readonly storage: "s3" | "folder"
  readonly variables?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, string>>
  /** Folder of the PostgreSQL binaries; those from npm by default. */
  readonly bin?: string
}

export const openCluster = async (options: ClusterOptions): Promise<Cluster> => {
  const dir = mkdtempSync(join(tmpdir(), "weft-nodes-"))
  const logs = mkdtempSync(join(tmpdir(), "weft-nodes-log-"))
  const closers: Array<() => Promise<void> | void> = [() => rmSync(dir, { recursive: true, force: true })]
  const close = async (): Promise<void> => {
    for (const closer of closers.reverse()) await closer()
  }
  try {
    const { bin, settings = {} } = options
    // Durable, so that commits survive a crash of the database.
    const database = await postgres({ durable: true, settings, ...(bin === undefined ? {} : { bin }) })
    closers.push(database.remove)
    const storage = await openStorage(options.storage, dir)
    closers.push(storage.close)
    const key = `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`
    const variables = {
      WEFT_STORAGE_URL: storage.url,
      WEFT_MASTER_KEY: randomBytes(32).toString("base64"),
      WEFT_ADMIN_TOKEN: randomUUID(),
      WEFT_API_KEY: key,
      ...options.variables
    }
    const slots: Array<Slot> = []
    for (let index = 1; index <= options.nodes; index++) {
      const proxy = await tcpProxy(database.port)
      slots.push({ name: `node ${index}`, proxy, node: null, isDraining: false })
      closers.push(proxy.close)
    }
    const start = (slot: Slot): Promise<void> => startIn(slot, dir, logs, database, variables)
    closers.push(async () => {
      for (const { node } of slots) node?.signal("SIGKILL")
      await Promise.all(slots.map(({ node }) => node?.exited))
    })
    await Promise.all(slots.map(start))
    const deploy = async (project: string, source: string): Promise<void> => {
      await upload(slots[0]?.node?.url ?? "", key, project, source)
    }
    return { slots, database, query: queryAt(database.url), key, start, deploy, logs, storage: storage.kind, close }
  } catch (error) {
    await close()
    throw error
  }
}

const startIn = async (
  slot: Slot,
  dir: string,
  logs: string,
  database: PostgresServer,
  variables: Readonly<Record<string, string>>
): Promise<void> => {
  const url = new URL(database.url)
  url.port = String(slot.proxy.port)
  const node = await startNode({
    variables: { ...variables, WEFT_DATABASE_URL: url.href, WEFT_DATA_DIR: join(dir, slot.name.replace(" ", "-")) },
    log: join(logs, `${slot.name.replace(" ", "-")}.log`)
  })
  slot.isDraining = false
  slot.node = node
  void node.exited.then(() => {
    if (slot.node === node) slot.node = null
  })
}

interface Storage {
  readonly url: string
  readonly kind: string
  readonly close: () => Promise<void>
}

const openStorage = async (kind: ClusterOptions["storage"], dir: string): Promise<Storage> => {
  if (kind === "folder") {
    const folder = join(dir, "blobs")
    mkdirSync(folder)
    return { url: `file:${folder}`, kind: "a shared folder", close: async () => undefined }
  }
  const server: S3Server = await s3Server()
  return { url: s3Url(server, "weft"), kind: "S3", close: server.remove }
}
