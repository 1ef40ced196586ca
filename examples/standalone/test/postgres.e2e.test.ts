/** Several nodes on one PostgreSQL: their first start, and shared state between them. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { nats, type PostgresServer, postgres, type S3Server, s3Server, s3Url } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-postgres-e2e-"))
let server: PostgresServer
let storage: S3Server
const ends: Array<() => Promise<unknown>> = []
beforeAll(async () => {
  server = await postgres()
  ends.unshift(server.remove)
  storage = await s3Server()
  ends.unshift(storage.remove)
}, 120_000)
afterAll(async () => {
  for (const end of ends) await end().catch(() => undefined)
  rmSync(dir, { recursive: true, force: true })
})

const startNode = async (name: string, variables: Readonly<Record<string, string>> = {}): Promise<ServerProcess> => {
  const node = await startServer(join(dir, name), {
    WEFT_DATABASE_URL: server.url,
    WEFT_STORAGE_URL: s3Url(storage, "weft-nodes"),
    WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    WEFT_SANDBOX_RUNNERS: "1",
    ...variables
  })
  ends.unshift(node.kill)
  return node
}

const source = `
export const onSaid = async (event, svc) => {
  const file = await svc.files.get(event.event_data.path)
  return [await svc.context.get("GREETING"), await file.text()]
}
onSaid.meta = { event: "said" }
`

/** Reads a subscription until it contains `until`. */
const readUntil = async (subscription: Response, until: string): Promise<string> => {
  let received = ""
  for await (const bytes of subscription.body ?? []) {
    received += Buffer.from(bytes).toString()
    if (received.includes(until)) return received
  }
  throw new Error(`The subscription ended after ${received}`)
}

const Projects = z.object({ data: z.array(z.object({ name: z.string() })) })

describe("nodes of one database", () => {
  it("can start concurrently on an empty database: one creates the tenant and prints its key", async () => {
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

  it.each(["postgres", "nats"])("share files, builds and secrets, and exchange messages by %s", async (by) => {
    const broker = by === "nats" ? await nats() : null
    if (broker !== null) ends.unshift(broker.stop)
    const { url = "", user = "", password = "" } = broker ?? {}
    const pubSub = broker === null ? by : url.replace("//", `//${user}:${password}@`)
    const [one, other] = await Promise.all(["a", "b"].map((name) => startNode(name, { WEFT_PUBSUB: pubSub })))
    if (one === undefined || other === undefined) throw new Error("Two were started")
    const authorization = `Bearer ${apiKey}`
    await one.upload(by, source)
    await other.call("POST", `/v1/projects/${by}/context`, { key: "GREETING", value: "hello" })
    const put = await fetch(`${other.url}/v1/files/upload/${by}.txt`, {
      method: "PUT",
      headers: { authorization },
      body: "some text"
    })
    expect(put.status).toBe(200)

    const subscriptions = await Promise.all(
      [one, other].map((node) => fetch(`${node.url}/v1/env/subscribe`, { headers: { authorization } }))
    )
    await one.call("POST", "/v1/events", { event_type: "said", event_data: { path: `${by}.txt` } })
    for (const subscription of subscriptions) {
      const received = await readUntil(subscription, "event: event:handled")
      for (const name of ["event:created", "run:start", "run:stop"]) expect(received).toContain(`event: ${name}`)
    }
    const runs = await other.call("GET", "/v1/runs?limit=1")
    expect(runs).toMatchObject({ data: [{ status: "succeeded", result: ["hello", "some text"] }] })
    for (const node of [one, other]) expect(node.output()).not.toContain(password === "" ? apiKey : password)
    expect(await Promise.all([one, other].map((node) => node.stop()))).toEqual([0, 0])
    await broker?.stop()
  })

  it("can redirect downloads to S3, by presigned URLs", async () => {
    const node = await startNode("a", { WEFT_STORAGE_URL: `${s3Url(storage, "weft-nodes")}&presign_seconds=60` })
    const headers = { authorization: `Bearer ${apiKey}` }
    const type = { ...headers, "content-type": "text/csv" }
    const put = await fetch(`${node.url}/v1/files/upload/direct.csv`, { method: "PUT", headers: type, body: "a,b" })
    const { data } = z.object({ data: z.object({ file_id: z.string() }) }).parse(await put.json())
    const download = `${node.url}/v1/files/${data.file_id}/download`

    const sent = await fetch(download, { headers, redirect: "manual" })
    expect(sent.status).toBe(307)
    const address = new URL(sent.headers.get("location") ?? "")
    expect(address.host).toBe(`${storage.endPoint}:${storage.port}`)
    const got = await fetch(address)
    expect([got.status, got.headers.get("content-type"), await got.text()]).toEqual([200, "text/csv", "a,b"])
    expect(got.headers.get("content-disposition")).toContain("direct.csv")
    address.searchParams.set("X-Amz-Signature", "0".repeat(64))
    expect((await fetch(address)).status).toBe(403)

    // The node itself responds to HEAD and range requests.
    expect((await fetch(download, { method: "HEAD", headers, redirect: "manual" })).status).toBe(200)
    const part = await fetch(download, { headers: { ...headers, range: "bytes=2-2" }, redirect: "manual" })
    expect([part.status, await part.text()]).toEqual([206, "b"])
    expect(await node.stop()).toBe(0)
  })
})
