/** Cancellation, live logs and replays with a real sandbox, database and HTTP server. */

import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { start, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import * as Http from "@weft/http"
import { sandbox } from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const source = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export const add = (a, b) => a + b
export const spins = () => { while (true); }
export const neighbour = async () => { await sleep(20); return "unharmed" }
export const talks = async (text) => {
  console.log("first", text)
  await sleep(1500)
  console.log("second", (await svc.context.get("TOKEN")).length)
  await new Promise(() => {})
}
`

const secret = "s3cret-of-the-project"

let weft: WeftInstance
let listening: Http.Listening
let token: string
let dir: string

const call = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${listening.url}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const { data } = JSON.parse(await response.text())
  return { status: response.status, data }
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "weft-control-"))
  weft = await start({
    database: Sqlite.database({ file: join(dir, "weft.db"), synchronous: "normal" }),
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1 }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))]
  })
  listening = await Http.listen(weft, { port: 0 })
  const org = await weft.orgs.create({ slug: "control" })
  const { env_id } = await weft.envs.create(org.org_id, { name: "production" })
  token = Redacted.value((await weft.apiKeys.create(env_id, {})).token)
  const env = weft.env(env_id)
  await env.projects.create({ name: "app" })
  await env.context.create("app", { key: "TOKEN", value: secret })
  const zip = zipSync({ "index.js": strToU8(source) })
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = await env.builds.upload("app", { zip, hash })
  await env.builds.deploy("app", build.build_id)
}, 60_000)
afterAll(async () => {
  await call("POST", "/runs/cancel")
  await listening.close()
  await weft.close()
  rmSync(dir, { recursive: true })
})

const pause = () => new Promise((resolve) => setTimeout(resolve, 20))

const begin = async (fn: string, args: ReadonlyArray<unknown> = []): Promise<string> =>
  (await call("POST", "/calls", { fn, args })).data.run_id

const cancel = (id: string) => call("POST", `/runs/${id}/cancel`)

const messages = async (id: string): Promise<ReadonlyArray<string>> =>
  (await call("GET", `/runs/${id}/logs`)).data.map((entry: { message: string }) => entry.message)

const expectMessages = async (id: string, expected: ReadonlyArray<string>) => {
  let seen: ReadonlyArray<string> = []
  while (seen.length < expected.length) {
    await pause()
    seen = await messages(id)
  }
  expect(seen).toEqual(expected)
}

describe("cancellation", () => {
  it("stops an endless loop without harm to other runs of the build", async () => {
    for (let turn = 0; turn < 10; turn++) {
      const neighbour = call("POST", "/calls", { fn: "main/neighbour", wait: 20 })
      const { status, data } = await cancel(await begin("main/spins"))
      // The CPU limit may have stopped it before the cancellation.
      if (status === 200) expect([data.status, data.result.error.name]).toEqual(["cancelled", "Cancelled"])
      expect((await neighbour).data).toMatchObject({ status: "succeeded", result: "unharmed" })
    }
  }, 60_000)
})

describe("the log of a running run", () => {
  it("can be read line by line, and masks values that become known as secrets", async () => {
    const id = await begin("main/talks", [`the ${secret}`])
    await expectMessages(id, [`first the ${secret}`])
    await expectMessages(id, ["first the ***", `second ${secret.length}`])
    await cancel(id)
    // The log is stored after the code has stopped.
    await expectMessages(id, ["first the ***", `second ${secret.length}`])
  })
})

describe("a replay", () => {
  it("calls the function with the same arguments", async () => {
    const { data } = await call("POST", "/calls", { fn: "main/add", args: [4, 5], wait: 20 })
    let replay = (await call("POST", `/runs/${data.run_id}/replay`)).data
    while (replay.status === "running") replay = (await call("GET", `/runs/${replay.run_id}`)).data
    expect(replay).toMatchObject({ result: 9, run_type: "run", origin_run_id: data.run_id, event_id: data.event_id })
  })
})
