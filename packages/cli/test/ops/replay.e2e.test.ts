/** `weft replay` with the real sandbox, against a server that recorded runs of the same build. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { createClient, type WeftClient } from "@weft/client"
import { start, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import * as Http from "@weft/http"
import * as IsolatedVm from "@weft/sandbox"
import { Redacted } from "effect"
import { zipSync } from "fflate"
import { afterAll, beforeAll } from "vitest"
import { CliHarness } from "./CliHarness.ts"

const source = (rate: number): string => `
export const onOrder = async (event, svc) => {
  const key = await svc.context.get("KEY")
  const { total } = event.event_data
  const [priced] = await Promise.all([
    svc.events.publish({ type: "priced", data: { total: total * (total > 3 ? ${rate} : 2), key } }),
    svc.stream.emit("progress", { total })
  ])
  return { total, type: priced.event_type }
}
onOrder.meta = { event: "order", record: { inputs: true, hostCalls: true } }
`

const zip = (text: string): Uint8Array => zipSync({ "index.js": Buffer.from(text) }, { level: 0 })

/** A server with isolates instead of trusted functions. */
const startServer = async () => {
  const weft: WeftInstance = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: IsolatedVm.sandbox({ runners: 1 }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))]
  })
  const org = await weft.orgs.create({ slug: "acme" })
  const env = await weft.envs.create(org.slug, { name: "prod" })
  const token = Redacted.value((await weft.apiKeys.create(env.env_id, {})).token)
  const listening = await Http.listen(weft, { port: 0, version: "1.2.3" })
  const client = createClient({ baseUrl: listening.url, token })
  return {
    client,
    env: { WEFT_URL: listening.url, WEFT_API_KEY: token },
    close: async () => {
      await listening.close({ graceMs: 1_000 })
      await weft.close()
    }
  }
}

let harness: CliHarness
let server: Awaited<ReturnType<typeof startServer>>
beforeAll(async () => {
  ;[harness, server] = await Promise.all([CliHarness.start(), startServer()])
})
afterAll(() => Promise.all([harness.close(), server.close()]))

/** Deploys the function, publishes six orders, and returns when all runs are recorded. */
const record = async (client: WeftClient) => {
  await client.projects.create({ name: "shop" })
  const { build_id } = await client.builds.upload("shop", zip(source(2)))
  await client.context.create("shop", { key: "KEY", value: "s3cret value" })
  await client.builds.deploy("shop", build_id)
  for (let total = 1; total <= 6; total++) {
    await client.events.publish({ event_type: "order", event_data: { total } })
  }
  while ((await client.recordings.list()).total < 6) await new Promise((resolve) => setTimeout(resolve, 50))
  return (await client.recordings.list()).items.map(({ run_id }) => run_id)
}

describe("weft replay", () => {
  it("finds the recorded runs that differ with another build, and exports one as a test", async () => {
    const [newest = ""] = await record(server.client)
    const dist = join(harness.folder, "dist")
    mkdirSync(dist)
    writeFileSync(join(dist, "index.js"), source(3))
    mkdirSync(join(harness.folder, "src"))
    writeFileSync(join(harness.folder, "weft.json"), JSON.stringify({ project: "shop", entry: "src/index.js" }))
    writeFileSync(join(harness.folder, "src/index.js"), source(2))
    const { env } = server
    const [same, one, all, exported, unselective] = await Promise.all([
      harness.run(["replay", newest], { env }),
      harness.run(["replay", newest, "--build", "dist"], { env }),
      harness.run(["replay", "--function", "main/onOrder", "--limit", "50", "--build", "dist", "--json"], { env }),
      harness.run(["replay", newest, "--export", "test/order.test.ts"], { env }),
      harness.run(["replay"], { env })
    ])
    assert.deepInclude(same, { code: 0, stdout: "same: 3 host calls\n" })
    assert.strictEqual(one.code, 1)
    assert.include(one.stderr, "host call 2, events.publish.data.total: 12 → 18")
    assert.strictEqual(all.code, 1)
    const { replayed, different, incomplete } = JSON.parse(all.stdout)
    assert.deepStrictEqual([replayed, different.length, incomplete], [6, 3, 0])
    assert.deepInclude(unselective, { code: 2 })

    assert.strictEqual(exported.code, 0)
    const test = readFileSync(join(harness.folder, "test/order.test.ts"), "utf8")
    assert.include(test, 'import * as project from "../src/index.js"')
    assert.include(test, `"answer": "weft-secret-KEY"`)
    assert.notInclude(test, "s3cret")
  })
})
