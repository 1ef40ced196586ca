/** The environment of successive servers: a data directory, PostgreSQL if wanted, master keys and a client. */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { type CrashServer, startCrashServer } from "./CrashServer.ts"
import { source } from "./Guest.ts"
import { Harness } from "./Harness.ts"
import type { Trigger } from "./Points.ts"
import type { ServerOptions } from "./Protocol.ts"
import { deploy } from "./TenantWorkload.ts"

export interface StartOptions {
  readonly trigger?: Trigger
  readonly retentionDays?: number
  /** Offset of the server's clock, in milliseconds; 0 by default. */
  readonly clockMs?: number
}

export interface Environment {
  readonly dataDir: string
  readonly database: PostgresServer | null
  readonly harness: Harness
  /** Starts a server; resolves to null if it crashed at the point of its trigger. */
  readonly start: (options?: StartOptions) => Promise<CrashServer | null>
  /** Returns the current server. */
  readonly server: () => CrashServer
  /** Sets the clock of servers that were started with `clockMs`. */
  readonly setClock: (offsetMs: number) => void
  /** Adds a new master key from the next start on; the former key still decrypts. */
  readonly changeMasterKey: () => void
  /** Removes the former master key from the next start on. */
  readonly forgetMasterKey: () => void
  readonly close: () => Promise<void>
}

export const openEnvironment = async (kind: "sqlite" | "postgres"): Promise<Environment> => {
  const dataDir = mkdtempSync(join(tmpdir(), "weft-crash-"))
  // Durable, so that commits survive a crash.
  const database = kind === "sqlite" ? null : await postgres({ durable: true })
  const credentials = { apiKey: `svc_${randomUUID()}_${randomUUID()}`, adminToken: randomUUID() }
  const harness = new Harness(credentials)
  const clockFile = join(dataDir, "clock")
  const newKey = () => randomBytes(32).toString("base64")
  let masterKeys: ServerOptions["masterKeys"] = [newKey()]
  let server: CrashServer | null = null
  writeFileSync(join(dataDir, "names.json"), "{}")
  const setClock = (offsetMs: number): void => writeFileSync(clockFile, String(offsetMs))

  const start = async ({ trigger, retentionDays = -1, clockMs }: StartOptions = {}): Promise<CrashServer | null> => {
    if (clockMs !== undefined) setClock(clockMs)
    server = await startCrashServer(
      {
        ...credentials,
        dataDir,
        databaseUrl: database?.url ?? null,
        masterKeys,
        trigger: trigger ?? null,
        retentionDays
      },
      clockMs === undefined ? null : clockFile
    )
    if (server !== null) harness.url = server.url
    return server
  }
  return {
    dataDir,
    database,
    harness,
    start,
    setClock,
    server: () => {
      if (server === null) throw new Error("No server is running")
      return server
    },
    changeMasterKey: () => {
      masterKeys = [newKey(), masterKeys[0]]
    },
    forgetMasterKey: () => {
      masterKeys = [masterKeys[0]]
    },
    close: async () => {
      server?.killGroup()
      await server?.ended
      await database?.remove()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** Deploys the code and stores the secret that all operations need. */
export const setUp = async ({ harness }: Environment): Promise<void> => {
  for (const name of ["crash", "versions"]) await harness.request("POST", "/v1/projects", { body: { name } })
  await harness.request("POST", "/v1/projects/crash/context", { body: { key: "KEPT", value: "kept", description: "" } })
  if (!(await deploy(harness, "crash", source))) throw new Error("The deployment of the first build got no response")
  await harness.check()
}
