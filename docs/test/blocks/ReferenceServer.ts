/** The reference server as a process of its own, in a folder of its own. */
import { spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { referenceServer } from "@weft/tooling/programs"

export interface ReferenceServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string
  /** An API key with all permissions in the default environment. */
  readonly key: string
  readonly adminToken: string
}

/** Resolves when it listens. */
export const startServer = async (): Promise<ReferenceServer> => {
  const dataDir = await mkdtemp(join(tmpdir(), "weft-docs-data-"))
  const key = `svc_${randomUUID()}_${randomBytes(32).toString("base64url")}`
  const adminToken = randomUUID()
  const server = spawn(process.execPath, [await referenceServer()], {
    cwd: dataDir,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      WEFT_PORT: "0",
      WEFT_DATA_DIR: dataDir,
      WEFT_API_KEY: key,
      WEFT_ADMIN_TOKEN: adminToken,
      // The limit counts wall time, so a busy machine would stop even short functions.
      WEFT_SANDBOX_CPU_SLICE_MS: "30000"
    }
  })
  const ended = once(server, "exit")
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout).on("line", (line) => {
      const [, address] = /^weft listening on (http:\/\/\S+?)\/?$/.exec(line) ?? []
      if (address !== undefined) resolve(address)
    })
    ended.then(() => reject(new Error("The server ended before it listened")), reject)
  })
  return {
    url,
    key,
    adminToken,
    [Symbol.asyncDispose]: async () => {
      server.kill("SIGTERM")
      await ended
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}

/** Addresses and tokens that pages write out are those of the server. */
export const inPlace = (code: string, { url, key }: ReferenceServer): string =>
  code.replaceAll(/http:\/\/(?:127\.0\.0\.1|localhost):8787/g, url).replaceAll("svc_...", key)

/** Removes what a page has made, so that the next one finds the environment as it should be. */
export const clearAway = async ({ url, key }: ReferenceServer): Promise<void> => {
  const authorization = `Bearer ${key}`
  const answer = await fetch(`${url}/v1/projects?limit=100`, { headers: { authorization } })
  const { data }: { data: ReadonlyArray<{ project_id: string }> } = JSON.parse(await answer.text())
  for (const { project_id } of data) {
    await fetch(`${url}/v1/projects/${project_id}`, { method: "DELETE", headers: { authorization } })
  }
}
