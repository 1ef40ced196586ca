/** Nodes of one PostgreSQL: their first start, what they share, and the times when it is away. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-postgres-e2e-"))
let server: PostgresServer
beforeAll(async () => {
  server = await postgres()
}, 60_000)
afterAll(async () => {
  await server.remove()
  rmSync(dir, { recursive: true, force: true })
})

const startNode = (name: string, variables: Readonly<Record<string, string>> = {}): Promise<ServerProcess> =>
  startServer(join(dir, name), {
    WEFT_DATABASE_URL: server.url,
    WEFT_STORAGE_URL: `file:${join(dir, "blobs")}`,
    WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    WEFT_SANDBOX_RUNNERS: "1",
    ...variables
  })

const Projects = z.object({ data: z.array(z.object({ name: z.string() })) })

describe("nodes of one database", () => {
  it("may start at once on an empty one: the tenant is made once, its key is printed once", async () => {
    const nodes = await Promise.all(["a", "b", "c"].map((name) => startNode(name, { WEFT_API_KEY: "" })))
    const printed = nodes.flatMap((node) => [...node.output().matchAll(/shown once: (svc_\S+)/g)].map(([, key]) => key))
    expect(printed).toHaveLength(1)
    const headers = { authorization: `Bearer ${printed[0]}`, "content-type": "application/json" }
    const [first, ...others] = nodes
    const made = await fetch(`${first?.url}/v1/projects`, { method: "POST", headers, body: '{"name":"shared"}' })
    expect(made.status).toBe(201)
    for (const { url } of others) {
      const listed = Projects.parse(await (await fetch(`${url}/v1/projects`, { headers })).json())
      expect(listed.data).toMatchObject([{ name: "shared" }])
    }
    expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0, 0])
  })
})
