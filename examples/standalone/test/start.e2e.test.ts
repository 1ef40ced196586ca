/** Output of a start: the address of the server, or the invalid setting. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type PostgresServer, postgres } from "@weft/tooling/services"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startServer } from "./ServerProcess.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-start-e2e-"))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Starts a server that must fail, and returns its output. */
const failedStart = async (name: string, variables: Readonly<Record<string, string>>): Promise<string> => {
  const lines: Array<string> = []
  const starting = startServer(join(dir, name), variables, { onOutput: (text) => lines.push(text) })
  await expect(starting).rejects.toThrow("exited with code 1")
  return lines.join("")
}

describe("a starting server", () => {
  it("prints its address, also if clients use another address", { timeout: 60_000 }, async () => {
    const server = await startServer(join(dir, "known"), { WEFT_PUBLIC_URL: "https://weft.example.com" })
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    const taken = new URL(server.url).port
    expect(await failedStart("other", { WEFT_PORT: taken })).toBe(
      `weft: WEFT_PORT must be free: 127.0.0.1:${taken} is in use by another program\n`
    )
    expect(await server.stop()).toBe(0)
  })
})

describe("a server with blobs but without their database", () => {
  it("does not start as a new installation unless that is intended", { timeout: 60_000 }, async () => {
    const first = await startServer(join(dir, "lost"))
    await first.upload("app", "export const answer = () => 42")
    expect(await first.stop()).toBe(0)
    renameSync(join(dir, "lost", "weft.db"), join(dir, "lost", "moved.db"))
    expect(await failedStart("lost", {})).toMatch(/^weft: WEFT_DATA_DIR must be the database of the stored blobs: /)
    const intended = await startServer(join(dir, "lost"), { WEFT_NEW_INSTALLATION: "true" })
    expect(await intended.stop()).toBe(0)
    const again = await startServer(join(dir, "lost"))
    expect(await again.stop()).toBe(0)
  })
})

describe("a failed start prints one line with the setting", () => {
  writeFileSync(join(dir, "file"), "neither a folder nor a database, but longer than the header of one".repeat(10))

  it.each([
    ["WEFT_API_KEY", "abc", "is refused: The token of an API key must have the format svc_<uuid>_<secret>"],
    ["WEFT_HOST", "192.0.2.1", "must be an address of this machine: "],
    ["WEFT_DATABASE_URL", `sqlite:${join(dir, "file")}`, "does not work: The database "],
    ["WEFT_DATABASE_URL", "postgres://nobody:secret@127.0.0.1:1/none", "does not work: "],
    [
      "WEFT_DATABASE_URL",
      "sqlite:/proc/none/x.db",
      "does not work: The database /proc/none/x.db cannot be used: ENOENT"
    ],
    ["WEFT_STORAGE_URL", `file:${join(dir, "file")}`, "does not work: "],
    [
      "WEFT_STORAGE_URL",
      "file:/proc/none/blobs",
      "does not work: The folder /proc/none/blobs cannot be used for blobs: "
    ],
    ["WEFT_DATA_DIR", "/proc/none/data", "must be a folder that this user can write: ENOENT"],
    ["WEFT_STORAGE_URL", "s3://key:secret@127.0.0.1:1/bucket?tls=false", "does not work: The bucket "],
    ["WEFT_PUBSUB", "nats://127.0.0.1:1", "does not work: "]
  ])("%s = %s", { timeout: 60_000 }, async (name, value, reason) => {
    const output = await failedStart("wrong", { [name]: value })
    expect(output).toMatch(/^weft: [^\n]+\n$/)
    expect(output.slice("weft: ".length, -1).startsWith(`${name} ${reason}`), output).toBe(true)
    expect(output).not.toContain("secret@")
  })
})

describe("a server on PostgreSQL without configured secrets", () => {
  let database: PostgresServer
  beforeAll(async () => {
    database = await postgres()
  }, 120_000)
  afterAll(() => database.remove())

  it("generates them in its data dir, but rejects a database with secrets of another key", {
    timeout: 60_000
  }, async () => {
    const variables = { WEFT_DATABASE_URL: database.url, WEFT_ADMIN_TOKEN: "" }
    const first = await startServer(join(dir, "first"), variables)
    expect(first.output()).toMatch(/^WEFT_MASTER_KEY: using the key in the data dir/m)
    const [, token] = /^admin token, shown once: (\S+)$/m.exec(first.output()) ?? []
    const orgs = await fetch(`${first.url}/admin/orgs`, { headers: { authorization: `Bearer ${token}` } })
    expect(orgs.status).toBe(200)
    await first.call("POST", "/v1/projects", { name: "app" })
    await first.call("POST", "/v1/projects/app/context", { key: "GREETING", value: "hello" })
    expect(await first.stop()).toBe(0)

    // The key that the failed start generates remains: a further start fails as well.
    for (let start = 0; start < 2; start++) {
      expect(await failedStart("second", variables)).toMatch(
        /^weft: WEFT_MASTER_KEY has the id [0-9a-f]{16}, but stored secrets need the key with the id [0-9a-f]{16}: /m
      )
    }
    const again = await startServer(join(dir, "first"), variables)
    expect(again.output()).not.toContain("shown once")
    expect(await again.stop()).toBe(0)
  })
})
