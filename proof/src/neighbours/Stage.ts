/** The reference server with its default settings, with the innocent tenant and the environments of the attacker. */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { upload } from "@weft/bench/instruments"
import { draws } from "@weft/tooling/draws"
import { freePort, postgres } from "@weft/tooling/services"
import { type NodeProcess, startNode } from "../nodes/NodeProcess.ts"
import { makeApi, requireText } from "../soak/Api.ts"
import { innocentSource } from "./innocentCode.ts"
import { openSource, type Shape } from "./Shape.ts"

export type Database = "sqlite" | "postgres"

export interface Stage {
  readonly node: NodeProcess
  /** API key of the innocent tenant. */
  readonly key: string
  /** API keys of the attacker's environments. */
  readonly attackerKeys: ReadonlyArray<string>
  readonly upstreamPort: number | null
  readonly close: () => Promise<void>
}

const newToken = (): string => `svc_${randomUUID()}_${randomUUID().replaceAll("-", "")}`

export const openStage = async (shape: Shape, database: Database, logs: string): Promise<Stage> => {
  const closers: Array<() => Promise<void> | void> = []
  const close = async (): Promise<void> => {
    for (const closer of closers.reverse()) await closer()
  }
  try {
    const dir = mkdtempSync(join(tmpdir(), "weft-neighbours-"))
    closers.push(() => rmSync(dir, { recursive: true, force: true }))
    const [key, adminToken] = [newToken(), randomUUID()]
    const upstreamPort = shape.needsUpstream === true ? await freePort() : null
    const node = await startNode({
      variables: {
        WEFT_DATA_DIR: dir,
        WEFT_API_KEY: key,
        WEFT_ADMIN_TOKEN: adminToken,
        ...(upstreamPort === null ? {} : { WEFT_EGRESS_ALLOW: `127.0.0.1:${upstreamPort}` }),
        ...(database === "sqlite" ? {} : { WEFT_DATABASE_URL: await openPostgres(closers) })
      },
      log: join(logs, `${shape.name}.log`)
    })
    closers.push(async () => {
      node.signal("SIGKILL")
      await node.exited
    })
    await upload(node.url, key, "innocent", innocentSource)
    const attackerKeys: Array<string> = []
    for (let environment = 1; environment <= (shape.environments ?? 1); environment++) {
      attackerKeys.push(await createEnvironment(node, adminToken, `attacker-${environment}`))
    }
    const [first] = attackerKeys
    if (first !== undefined) await upload(node.url, first, "attack", shape.source ?? openSource)
    return { node, key, attackerKeys, upstreamPort, close }
  } catch (error) {
    await close()
    throw error
  }
}

const openPostgres = async (closers: Array<() => Promise<void> | void>): Promise<string> => {
  const server = await postgres({ durable: true })
  closers.push(server.remove)
  return server.url
}

/** Creates an environment and returns its API key. */
const createEnvironment = async (node: NodeProcess, adminToken: string, name: string): Promise<string> => {
  const { send } = makeApi({ slots: [{ name: "server", node, isDraining: false }], key: adminToken }, draws(1))
  const made = await send({ method: "POST", path: "/admin/orgs/default/envs", body: { name } })
  const path = `/admin/envs/${requireText(made, "env_id")}/api-keys`
  return requireText(await send({ method: "POST", path, body: { name } }), "token")
}
