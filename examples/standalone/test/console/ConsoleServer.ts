/** The server of a suite of the console, on the store of vitest's project: SQLite, or PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { postgres } from "@weft/tooling/services"
import { inject } from "vitest"
import { type ServerProcess, startServer } from "../ServerProcess.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly consoleStore: "SQLite" | "PostgreSQL"
  }
}

export interface ConsoleServer {
  readonly server: ServerProcess
  /** Stops the server and its database, and removes their data. */
  readonly close: () => Promise<void>
}

export const startConsoleServer = async (variables: Readonly<Record<string, string>> = {}): Promise<ConsoleServer> => {
  const dataDir = mkdtempSync(join(tmpdir(), "weft-console-"))
  const database = inject("consoleStore") === "PostgreSQL" ? await postgres() : null
  const onPostgres =
    database === null
      ? {}
      : { WEFT_DATABASE_URL: database.url, WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64") }
  const server = await startServer(dataDir, { ...onPostgres, ...variables })
  const close = async () => {
    await server.stop()
    await database?.remove()
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { server, close }
}
