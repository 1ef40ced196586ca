/** Where servers live and die one after the other: a data dir, perhaps a PostgreSQL, keys, and who talks to them. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { type CrashServer, startCrashServer } from "./CrashServer.ts"
import { source } from "./Guest.ts"
import type { Order } from "./Points.ts"
import type { ServerOptions } from "./Protocol.ts"
import { deploy } from "./TenantDeeds.ts"
import { World } from "./World.ts"

export interface StartOptions {
  readonly order?: Order
  readonly retentionDays?: number
  /** How far the server's clock is off; by default it is not. */
  readonly clockMs?: number
}

export interface Site {
  readonly dataDir: string
  readonly database: PostgresServer | null
  readonly world: World
  /** Starts one where none is, or gives null when it died at the point of its order. */
  readonly start: (options?: StartOptions) => Promise<CrashServer | null>
  /** The server that lives now. */
  readonly server: () => CrashServer
  /** Moves the clock of servers that were started with `clockMs`. */
  readonly setClock: (offMs: number) => void
  /** From the next start on: a new master key, and the former one to open what it sealed. */
  readonly changeMasterKey: () => void
  /** Also the former one is gone. */
  readonly forgetMasterKey: () => void
  readonly close: () => Promise<void>
}

export const openSite = async (kind: "sqlite" | "postgres"): Promise<Site> => {
  const dataDir = mkdtempSync(join(tmpdir(), "weft-crash-"))
  // Durable: what was committed before a crash is to be there after it.
  const database = kind === "sqlite" ? null : await postgres({ durable: true })
  const credentials = { apiKey: `svc_${randomUUID()}_${randomUUID()}`, adminToken: randomUUID() }
  const world = new World(credentials)
  const clockFile = join(dataDir, "clock")
  const newKey = () => randomBytes(32).toString("base64")
  let masterKeys: ServerOptions["masterKeys"] = [newKey()]
  let server: CrashServer | null = null
  writeFileSync(join(dataDir, "names.json"), "{}")
  const setClock = (offMs: number): void => writeFileSync(clockFile, String(offMs))

  const start = async ({ order, retentionDays = -1, clockMs }: StartOptions = {}): Promise<CrashServer | null> => {
    if (clockMs !== undefined) setClock(clockMs)
    server = await startCrashServer(
      {
        ...credentials,
        dataDir,
        databaseUrl: database?.url ?? null,
        masterKeys,
        order: order ?? null,
        retentionDays
      },
      clockMs === undefined ? null : clockFile
    )
    if (server !== null) world.url = server.url
    return server
  }
  return {
    dataDir,
    database,
    world,
    start,
    setClock,
    server: () => {
      if (server === null) throw new Error("No server lives")
      return server
    },
    changeMasterKey: () => {
      masterKeys = [newKey(), masterKeys[0]]
    },
    forgetMasterKey: () => {
      masterKeys = [masterKeys[0]]
    },
    close: async () => {
      server?.killRest()
      await server?.ended
      await database?.remove()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** The code and the secret that all deeds need. */
export const furnish = async ({ world }: Site): Promise<void> => {
  for (const name of ["crash", "versions"]) await world.ask("POST", "/v1/projects", { body: { name } })
  await world.ask("POST", "/v1/projects/crash/context", { body: { key: "KEPT", value: "kept", description: "" } })
  if (!(await deploy(world, "crash", source))) throw new Error("The first build could not be deployed")
  await world.look()
}
