/** Calls, cancelling, replaying and logs as they come: a real sandbox, a real database, real HTTP. */

import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MemoryStores, start, type WeftInstance } from "@weft/core"
import * as Http from "@weft/http"
import { isolated } from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const source = `
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const on = (event, fn) => Object.assign(fn, { meta: { event } })

export const add = (a, b) => a + b
export const spins = () => { while (true); }
export const waits = () => new Promise(() => {})
export const neighbour = async () => { await sleep(20); return "unharmed" }
export const listens = async () => {
  svc.signal.addEventListener("abort", () => console.log("aborted"))
  console.log("listening")
  await new Promise(() => {})
}
export const parent = on("parent", async (event, svc) => ({ called: await svc.call("main/add", [2, 3]), run: svc.run.run_id }))
export const unknown = on("unknown", async (event, svc) => {
  try { await svc.call("main/nothing", []) } catch (error) { return [error.name, error.message] }
})
export const talks = async (told) => {
  console.log("first", told)
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
    stores: Sqlite.stores({ file: join(dir, "weft.db"), synchronous: "normal" }),
    blobs: MemoryStores.blobs,
    sandbox: isolated({ runners: 1 }),
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

const until = async (id: string, expected: ReadonlyArray<string>) => {
  let seen: ReadonlyArray<string> = []
  while (seen.length < expected.length) {
    await pause()
    seen = await messages(id)
  }
  expect(seen).toEqual(expected)
}

describe("functions that are called", () => {
  it("give their result to who waits", async () => {
    const { status, data } = await call("POST", "/calls", { fn: "main/add", args: [1, 2], wait: 20 })
    expect([status, data.status, data.result]).toEqual([201, "succeeded", 3])
  })

  it("run in the background for the run that called them, on its stream", async () => {
    const { event_id } = (await call("POST", "/events", { event_type: "parent", event_data: null })).data
    let parent: { status?: string; stream_id?: string; result?: { called: { event_id: string }; run: string } } = {}
    while (parent.status !== "succeeded") parent = (await call("GET", `/events/${event_id}/runs`)).data[0] ?? {}
    let child: { status?: string } = {}
    const of = `/events/${parent.result?.called.event_id}/runs`
    while (child.status !== "succeeded") child = (await call("GET", of)).data[0] ?? {}
    expect(child).toMatchObject({ origin_run_id: parent.result?.run, stream_id: parent.stream_id, result: 5 })
  })

  it("are refused in code as over HTTP when there are none", async () => {
    const { event_id } = (await call("POST", "/events", { event_type: "unknown", event_data: null })).data
    let run: { status?: string; result?: unknown } = {}
    while (run.status !== "succeeded") run = (await call("GET", `/events/${event_id}/runs`)).data[0] ?? {}
    expect(run.result).toEqual(["BadRequest", "event_data.fn: there is no function of this name"])
  })
})

describe("cancelling", () => {
  it("stops code that never pauses, and leaves its neighbours unharmed", async () => {
    for (let turn = 0; turn < 10; turn++) {
      const neighbour = call("POST", "/calls", { fn: "main/neighbour", wait: 20 })
      const { status, data } = await cancel(await begin("main/spins"))
      // It may have been stopped for the time that it took before anybody could.
      if (status === 200) expect([data.status, data.result.error.name]).toEqual(["cancelled", "Cancelled"])
      expect((await neighbour).data).toMatchObject({ status: "succeeded", result: "unharmed" })
    }
  }, 60_000)

  it("aborts svc.signal, keeps the log, and is for good", async () => {
    const id = await begin("main/listens")
    await until(id, ["listening"])
    const { data } = await cancel(id)
    expect(data.status).toBe("cancelled")
    await pause()
    expect((await call("GET", `/runs/${id}`)).data).toEqual(data)
    // The log is stored when the code has stopped.
    await expect.poll(async () => (await messages(id))[0], { timeout: 10_000 }).toBe("listening")
    expect((await cancel(id)).status).toBe(400)
  })

  it("of many ends them all", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => begin("main/waits")))
    const { data } = await call("POST", "/runs/cancel?type=call")
    expect(data.cancelled).toBe(30)
    for (const id of ids) expect((await call("GET", `/runs/${id}`)).data.status).toBe("cancelled")
    const { running } = (await call("GET", "/runs/stats")).data
    expect(running).toBe(0)
  })
})

describe("the log of a run that goes on", () => {
  it("can be read line by line, without what turns out to be a secret", async () => {
    const id = await begin("main/talks", [`the ${secret}`])
    await until(id, [`first the ${secret}`])
    await until(id, ["first the ***", `second ${secret.length}`])
    await cancel(id)
    // It is stored when the code has stopped.
    await until(id, ["first the ***", `second ${secret.length}`])
  })
})

describe("replaying", () => {
  it("calls the function with the same args", async () => {
    const { data } = await call("POST", "/calls", { fn: "main/add", args: [4, 5], wait: 20 })
    let replay = (await call("POST", `/runs/${data.run_id}/replay`)).data
    while (replay.status === "running") replay = (await call("GET", `/runs/${replay.run_id}`)).data
    expect(replay).toMatchObject({ result: 9, run_type: "run", origin_run_id: data.run_id, event_id: data.event_id })
  })
})
