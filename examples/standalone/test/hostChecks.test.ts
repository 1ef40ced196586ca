import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redacted } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { judgeDisk, readHostChecks } from "../src/HostChecks.ts"
import { readSettings } from "../src/Settings.ts"

const folder = mkdtempSync(join(tmpdir(), "weft-checks-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const strong = "0123456789abcdef0123456789abcdef"

const check = async (variables: Record<string, string>, token = strong) => {
  const settings = readSettings({ WEFT_DATA_DIR: folder, ...variables })
  const checks = await readHostChecks(settings, Redacted.make(token))
  expect(JSON.stringify(checks)).not.toContain(token)
  return (name: string) => checks.filter((one) => one.name === name)
}

describe("checks of the host", () => {
  it("pass with a key, a long token and an https URL", async () => {
    const find = await check({
      WEFT_MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      WEFT_HOST: "0.0.0.0",
      WEFT_PUBLIC_URL: "https://weft.example.com"
    })
    for (const name of ["master-key", "admin-token", "public-url", "settings"]) {
      expect(find(name), name).toMatchObject([{ status: "ok", remedy: null }])
    }
    expect(find("disk")).toMatchObject([{ seen: expect.stringContaining(folder) }])
  })

  it("warn of a key next to the data, a weak token, and addresses without TLS", async () => {
    const find = await check({ WEFT_HOST: "0.0.0.0" }, "aaaaaaaaaaaaaaaa")
    for (const name of ["master-key", "admin-token", "public-url"]) expect(find(name)[0]?.status, name).toBe("warning")
    const plain = await check({ WEFT_PUBLIC_URL: "http://weft.example.com" })
    expect(plain("public-url")[0]?.status).toBe("warning")
    expect((await check({}))("public-url")[0]?.status).toBe("ok")
  })

  it("repeat the warnings about settings of several nodes", async () => {
    const find = await check({ WEFT_DATABASE_URL: "postgres://weft:hunter2@db/weft", WEFT_PUBSUB: "memory" })
    expect(find("settings").map(({ seen }) => seen.split(":")[0])).toEqual([
      "WEFT_STORAGE_URL",
      "WEFT_PUBSUB",
      "WEFT_MASTER_KEY",
      "WEFT_ADMIN_TOKEN"
    ])
    expect(JSON.stringify(find("settings"))).not.toContain("hunter2")
  })

  it("fail on a full disk, and warn below 1 GiB", () => {
    const MiB = 1024 * 1024
    expect(judgeDisk("/data", 99 * MiB, 1000 * MiB).status).toBe("failure")
    expect(judgeDisk("/data", 500 * MiB, 1000 * MiB)).toMatchObject({
      status: "warning",
      seen: "/data: 500 of 1000 MiB are free"
    })
    expect(judgeDisk("/data", 5000 * MiB, 9000 * MiB).status).toBe("ok")
  })
})
