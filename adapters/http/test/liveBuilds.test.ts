import { assert, describe, it } from "@effect/vitest"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { afterAll, beforeAll } from "vitest"
import { adminToken, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

type Guest = Record<string, unknown>

const withMeta = (meta: Guest, fn: (...args: ReadonlyArray<never>) => unknown) => Object.assign(fn, { meta })

/** Pending runs, which wait until the test continues them. */
const gates = new Map<string, () => void>()
const waitAt = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve))

/** A build that returns its name from all entry points: an endpoint, a handler and a schedule of that name. */
const version = (name: string): TrustedModule => ({
  main: {
    who: withMeta({ webhook: { service: "v", path: "/who", method: "GET" } }, () => name),
    own: withMeta({ webhook: { service: "v", path: `/${name}`, method: "GET" } }, () => name),
    slow: withMeta({ webhook: { service: "v", path: "/slow", method: "GET" } }, async () => {
      await waitAt(name)
      return name
    }),
    onEvent: withMeta({ event: "thing" }, () => name),
    onOwn: withMeta({ event: `thing:${name}` }, () => name),
    nightly: withMeta({ schedule: name === "one" ? "1 3 * * *" : "2 3 * * *" }, () => name)
  }
})

const modules = {
  one: version("one"),
  two: version("two"),
  three: version("three"),
  taken: { main: { who: version("two").main?.who ?? (() => null) } },
  bad: { main: { broken: withMeta({ schedule: "not a cron" }, () => null) } }
}

let server: TestServer
let one: string
beforeAll(async () => {
  server = await TestServer.start({}, adminToken, startWeft({ sandbox: trustedSandbox(modules) }))
  one = (await server.deploy("app", "one")).build_id
  await server.call("POST", "/v1/projects", { json: { name: "other" } })
})
afterAll(() => server.close())

const live = (module: string, more: Record<string, string> = {}) =>
  server.upload("app", module, { build_type: "live", ...more })
const hook = (path: string) => server.call("GET", `/webhook/acme/prod/v/${path}`, { token: null })
const getLive = () => server.call("GET", "/v1/projects/app/builds/live")
const endLive = () => server.call("DELETE", "/v1/projects/app/builds/live")

/** Waits for a value that is not undefined. */
const eventually = async <A>(ask: () => Promise<A | undefined>): Promise<A> => {
  for (let round = 0; round < 200; round++) {
    const found = await ask()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error("it never came")
}

const refused = (reply: Reply, status: number, code: string) => {
  assert.deepStrictEqual([reply.status, reply.json.error.code], [status, code], reply.text)
}

/** Publishes an event and returns the results of its runs when they have ended. */
const handledBy = async (event_type: string) => {
  const { data } = (await server.call("POST", "/v1/events", { json: { event_type, event_data: {} } })).json
  const ended = async () => {
    const runs = (await server.call("GET", `/v1/events/${data.event_id}/runs`)).json.data
    return runs.length > 0 && runs.every((run: { status: string }) => run.status !== "running") ? runs : undefined
  }
  return (await eventually(ended)).map((run: { result: unknown }) => run.result)
}

const noRuns = async (event_type: string) => {
  const { data } = (await server.call("POST", "/v1/events", { json: { event_type, event_data: {} } })).json
  return (await server.call("GET", `/v1/events/${data.event_id}/runs`)).json.data
}

describe("a live build", () => {
  it("replaces the deployed build for all triggers, at once", async () => {
    const uploaded = await live("two")
    assert.strictEqual(uploaded.status, 201, uploaded.text)
    const { build_id } = uploaded.json.data
    assert.include((await getLive()).json.data, { build_id, build_type: "live", deployed: false })
    assert.strictEqual((await hook("who")).json, "two")
    assert.strictEqual((await hook("two")).json, "two")
    refused(await hook("one"), 404, "not_found")
    assert.deepStrictEqual(await handledBy("thing"), ["two"])
    assert.deepStrictEqual(await handledBy("thing:two"), ["two"])
    assert.deepStrictEqual(await noRuns("thing:one"), [])
    const called = { event_type: "svc:call", event_data: { fn: "main/who", args: [] } }
    assert.strictEqual((await server.call("POST", "/v1/events", { json: called })).status, 201)
  })

  it("is replaced by the next one, while runs in flight finish on their own build", async () => {
    const slow = hook("slow")
    await eventually(async () => gates.get("two"))
    const { build_id } = (await live("three")).json.data
    assert.strictEqual((await getLive()).json.data.build_id, build_id)
    assert.strictEqual((await hook("who")).json, "three")
    refused(await hook("two"), 404, "not_found")
    gates.get("two")?.()
    assert.strictEqual((await slow).json, "two")
  })

  it("ends: the deployed build serves again, also one deployed in the meantime", async () => {
    const { build_id } = (await server.upload("app", "two")).json.data
    await server.call("POST", `/v1/projects/app/builds/${build_id}/deploy`)
    assert.strictEqual((await hook("who")).json, "three")
    const ended = await endLive()
    assert.deepStrictEqual([ended.status, ended.text], [204, ""])
    assert.strictEqual((await hook("who")).json, "two")
    assert.deepStrictEqual(await handledBy("thing"), ["two"])
    refused(await getLive(), 404, "not_found")
    refused(await endLive(), 404, "not_found")
  })
})

describe("deploying an older build", () => {
  it("rolls back: endpoints, handlers and schedules follow, runs in flight finish on their own build", async () => {
    const registered = async () => [
      ...(await server.call("GET", "/v1/projects/app/event-handlers")).json.data.map(
        (it: { event_type: string }) => it.event_type
      ),
      ...(await server.call("GET", "/v1/projects/app/schedules")).json.data.map((it: { cron: string }) => it.cron)
    ]
    assert.deepStrictEqual(await registered(), ["thing", "thing:two", "2 3 * * *"])
    gates.delete("two")
    const slow = hook("slow")
    await eventually(async () => gates.get("two"))

    const deployed = await server.call("POST", `/v1/projects/app/builds/${one}/deploy`)
    assert.include(deployed.json.data, { build_id: one, deployed: true })
    assert.deepStrictEqual(await registered(), ["thing", "thing:one", "1 3 * * *"])
    assert.strictEqual((await hook("one")).json, "one")
    refused(await hook("two"), 404, "not_found")
    assert.deepStrictEqual(await handledBy("thing"), ["one"])

    gates.get("two")?.()
    assert.strictEqual((await slow).json, "two")
  })
})
