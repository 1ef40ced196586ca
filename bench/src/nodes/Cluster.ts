/** Nodes on one PostgreSQL and one storage, each with its own way to the database. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type PostgresServer,
  postgres,
  type S3Server,
  s3Server,
  s3Url,
  type TcpProxy,
  tcpProxy
} from "@weft/tooling/services"
import { upload } from "../targets/upload.ts"
import { type NodeProcess, startNode } from "./NodeProcess.ts"
import { type Question, questions } from "./Question.ts"

/** A place for a node: when one is gone, another starts there. */
export interface Slot {
  readonly name: string
  readonly proxy: TcpProxy
  /** Null while there is none, or it does not listen yet. */
  node: NodeProcess | null
  /** Whether clients are to leave it alone, as a balancer would that was told. */
  isLeaving: boolean
}

export interface Cluster {
  readonly slots: ReadonlyArray<Slot>
  readonly database: PostgresServer
  readonly ask: Question
  /** The token of a key that may do everything. */
  readonly key: string
  readonly start: (slot: Slot) => Promise<void>
  readonly deploy: (project: string, source: string) => Promise<void>
  /** Where the nodes' output is; it stays. */
  readonly logs: string
  readonly storage: string
  readonly close: () => Promise<void>
}

export interface ClusterOptions {
  readonly nodes: number
  readonly storage: "s3" | "folder"
  readonly variables?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, string>>
  /** Of PostgreSQL's binaries, where not those that npm installed. */
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
    // Durable: what was committed before a crash is there after it, which is what is to be shown of the nodes.
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
      slots.push({ name: `node ${index}`, proxy, node: null, isLeaving: false })
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
    return { slots, database, ask: questions(database.url), key, start, deploy, logs, storage: storage.kind, close }
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
  slot.isLeaving = false
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
