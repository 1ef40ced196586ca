/** What a start says: where the server listens, or which setting keeps it from that. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startServer } from "./ServerProcess.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-start-e2e-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** All that a server says whose start fails. */
const lastWords = async (name: string, variables: Readonly<Record<string, string>>): Promise<string> => {
  const said: Array<string> = []
  const starting = startServer(join(dir, name), variables, { onOutput: (text) => said.push(text) })
  await expect(starting).rejects.toThrow("ended with 1")
  return said.join("")
}

describe("a server that starts", () => {
  it("says where it listens, also where clients know it by another address", { timeout: 60_000 }, async () => {
    const server = await startServer(join(dir, "known"), { WEFT_PUBLIC_URL: "https://weft.example.com" })
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const taken = new URL(server.url).port
    expect(await lastWords("other", { WEFT_PORT: taken })).toBe(
      `weft: WEFT_PORT must be free: 127.0.0.1:${taken} is in use by another program\n`
    )
    expect(await server.stop()).toBe(0)
  })
})

describe("a server that cannot start says in one line which setting it is for", () => {
  writeFileSync(join(dir, "file"), "neither a folder nor a database, but longer than the header of one".repeat(10))

  it.each([
    ["WEFT_API_KEY", "abc", "is refused: The token of an API key must have the shape svc_<uuid>_<secret>"],
    ["WEFT_HOST", "192.0.2.1", "must be an address of this machine: "],
    ["WEFT_DATABASE_URL", `sqlite:${join(dir, "file")}`, "does not work: The database "],
    ["WEFT_DATABASE_URL", "postgres://nobody:secret@127.0.0.1:1/none", "does not work: "],
    ["WEFT_STORAGE_URL", `file:${join(dir, "file")}`, "does not work: "],
    ["WEFT_STORAGE_URL", "s3://key:secret@127.0.0.1:1/bucket?tls=false", "does not work: The bucket "],
    ["WEFT_PUBSUB", "nats://127.0.0.1:1", "does not work: "]
  ])("%s = %s", { timeout: 60_000 }, async (name, value, reason) => {
    const said = await lastWords("wrong", { [name]: value })
    expect(said).toMatch(/^weft: [^\n]+\n$/)
    expect(said.slice("weft: ".length, -1).startsWith(`${name} ${reason}`), said).toBe(true)
    expect(said).not.toContain("secret@")
  })
})

describe("a server on PostgreSQL that is given no secrets", () => {
  let database: PostgresServer
  beforeAll(async () => {
    database = await postgres()
  }, 120_000)
  afterAll(() => database.remove())

  it("makes them in its data dir, but no key beside secrets of another one", { timeout: 60_000 }, async () => {
    const variables = { WEFT_DATABASE_URL: database.url, WEFT_ADMIN_TOKEN: "" }
    const first = await startServer(join(dir, "first"), variables)
    expect(first.output()).toMatch(/^WEFT_MASTER_KEY: is the one in the data dir/m)
    const [, token] = /^admin token, shown once: (\S+)$/m.exec(first.output()) ?? []
    const orgs = await fetch(`${first.url}/admin/orgs`, { headers: { authorization: `Bearer ${token}` } })
    expect(orgs.status).toBe(200)
    await first.call("POST", "/v1/projects", { name: "app" })
    await first.call("POST", "/v1/projects/app/context", { key: "GREETING", value: "hello" })
    expect(await first.stop()).toBe(0)

    expect(await lastWords("second", variables)).toContain(
      "weft: WEFT_MASTER_KEY must be the key of the secrets that the database has\n"
    )
    const again = await startServer(join(dir, "first"), variables)
    expect(again.output()).not.toContain("shown once")
    expect(await again.stop()).toBe(0)
  })
})
