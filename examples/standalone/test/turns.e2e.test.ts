/** Turns between environments: a neighbour is served while the runs of another environment flood the host with calls. */

import { createHash } from "node:crypto"
import { hostFunction, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { egress } from "@weft/egress"
import * as Http from "@weft/http"
import { sandbox } from "@weft/sandbox"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

/** Host calls of a run at once, below the maximum of 1,000. */
const atOnce = 900
const floodsAtOnce = 4
/** Calls of a run of `burst`, each of which computes for a millisecond in the host. */
const burstCalls = 400

const source = `
const flood = (event, call) => Object.assign(async (event, svc) => {
  let refused = 0
  for (;;) {
    const calls = []
    for (let n = 0; n < ${atOnce}; n++) calls.push(call(svc, n).then(() => 0, () => 1))
    for (const one of await Promise.all(calls)) refused += one
    await svc.stream.emit("round", refused)
  }
}, { meta: { event, timeout: "2m" } })

export const burst = Object.assign(async (event, svc) => {
  const calls = []
  for (let n = 0; n < ${burstCalls}; n++) calls.push(svc.host.burn())
  await Promise.all(calls)
}, { meta: { event: "burst" } })
export const fetches = flood("fetches", () => fetch("http://127.0.0.1:9/"))
export const unknown = flood("unknown", (svc) => svc.host.there.is.none({}))
export const malformed = flood("malformed", (svc) => svc.events.publish({ type: 7, data: undefined }))
export const schedules = flood("schedules", (svc, n) => svc.schedules.cancel({ fn: "main/none" + n }))
export const files = flood("files", (svc) => svc.files.list("none/"))
export const hook = Object.assign(() => "served", { meta: { webhook: { service: "s", path: "/hook", method: "GET" } } })
`

let weft: WeftInstance
let listening: Http.Listening
let attacker: WeftEnv
let burned = 0

const burn = (): void => {
  const until = performance.now() + 1
  while (performance.now() < until);
  burned++
}

const addEnv = async (slug: string): Promise<WeftEnv> => {
  const org = await weft.orgs.create({ slug })
  const { env_id } = await weft.envs.create(org.org_id, { name: "production" })
  const env = weft.env(env_id)
  await env.projects.create({ name: "all" })
  const zip = zipSync({ "index.js": strToU8(source) })
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = await env.builds.upload("all", { zip, hash })
  await env.builds.deploy("all", build.build_id)
  return env
}

beforeAll(async () => {
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1 }),
    egress: egress(),
    host: { burn: hostFunction({ concurrency: { run: 400, env: 1600 } }, burn) },
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))]
  })
  listening = await Http.listen(weft, { port: 0 })
  attacker = await addEnv("attacker")
  await addEnv("neighbour")
}, 60_000)
afterAll(async () => {
  await listening.close()
  await weft.close()
})

const hook = async (): Promise<unknown> => (await fetch(`${listening.url}/webhook/neighbour/production/s/hook`)).json()

/** Returns the sum of the series whose text begins like this. */
const metric = async (series: string): Promise<number> => {
  const text = await (await fetch(`${listening.url}/metrics`)).text()
  const lines = text.split("\n").filter((line) => line.startsWith(series))
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
}

/** Host calls that were executed so far. */
const executed = (): Promise<number> => metric('weft_turns_work_total{kind="host_call"')

describe("a neighbour of a flood of host calls", () => {
  it("is answered while most calls of one burst still wait", { timeout: 60_000 }, async () => {
    expect(await hook()).toBe("served")
    for (let n = 0; n < floodsAtOnce; n++) await attacker.events.publish({ type: "burst", data: null })
    while (burned === 0) await new Promise(setImmediate)
    expect(await hook()).toBe("served")
    expect(burned).toBeLessThan((burstCalls * floodsAtOnce) / 2)
    while (burned < burstCalls * floodsAtOnce) await new Promise((resolve) => setTimeout(resolve, 10))
  })

  for (const event of ["fetches", "unknown", "malformed", "schedules", "files"]) {
    it(`is answered ten times while the flood continues: ${event}`, { timeout: 60_000 }, async () => {
      for (let n = 0; n < floodsAtOnce; n++) await attacker.events.publish({ type: event, data: null })
      const before = await executed()
      while ((await executed()) < before + atOnce * floodsAtOnce) await new Promise(setImmediate)
      for (let n = 0; n < 10; n++) expect(await hook()).toBe("served")
      const last = await executed()
      while ((await executed()) === last) await new Promise(setImmediate)
      await attacker.runs.cancelAll({})
    })
  }

  it("is visible in the metrics", async () => {
    expect(await metric("weft_turns_wait_seconds_count")).toBeGreaterThan(0)
    expect(await metric('weft_turns_work_total{kind="host_call",ran="after_wait"}')).toBeGreaterThan(0)
  })
})
