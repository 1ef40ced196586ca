import { assert, describe, it } from "@effect/vitest"
import { type TrustedModule, trustedSandbox } from "@weft/core"
import { afterAll, beforeAll } from "vitest"
import { adminToken, type Reply, startWeft, TestServer } from "./server/TestServer.ts"

type Guest = Record<string, unknown>

const withMeta = (meta: Guest, fn: (...args: ReadonlyArray<never>) => unknown) => Object.assign(fn, { meta })

/** What a build does until the test lets it go on. */
const gates = new Map<string, () => void>()
const waitAt = (name: string) => new Promise<void>((resolve) => gates.set(name, resolve))

/** A build that tells its name wherever it is reached, and has an endpoint, a handler and a schedule of that name. */
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

/** What it is, once it is something. */
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

/** The results of the runs of a new event, when they have ended. */
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
  it("is none at first", async () => {
    refused(await getLive(), 404, "not_found")
    refused(await endLive(), 404, "not_found")
  })

  it("takes the deployed one's place for all triggers, at once", async () => {
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

  it("leaves the deployed one deployed, with what it registered", async () => {
    const { data } = (await server.call("GET", "/v1/projects/app/builds/deployed")).json
    assert.include(data, { build_id: one, deployed: true, build_type: "bundle" })
    const schedules = (await server.call("GET", "/v1/projects/app/schedules")).json.data
    assert.deepStrictEqual(
      schedules.map((it: { cron: string; build_id: string }) => [it.cron, it.build_id]),
      [["1 3 * * *", one]]
    )
    const listed = (await server.call("GET", "/v1/projects/app/builds")).json.data
    assert.deepStrictEqual(
      listed.map((it: { build_type: string; deployed: boolean }) => [it.build_type, it.deployed]),
      [
        ["live", false],
        ["bundle", true]
      ]
    )
  })

  it("is replaced by the next one, whose runs in flight finish on their own build", async () => {
    const slow = hook("slow")
    await eventually(async () => gates.get("two"))
    const { build_id } = (await live("three")).json.data
    assert.strictEqual((await getLive()).json.data.build_id, build_id)
    assert.strictEqual((await hook("who")).json, "three")
    refused(await hook("two"), 404, "not_found")
    gates.get("two")?.()
    assert.strictEqual((await slow).json, "two")
  })

  it("that cannot be served is 400, and changes nothing", async () => {
    const builds = async () => (await server.call("GET", "/v1/projects/app/builds")).json.pagination.total
    const [total, before] = [await builds(), (await getLive()).json.data]
    const broken = await live("bad")
    refused(broken, 400, "bad_request")
    assert.include(broken.json.error.message, "main/broken")
    refused(await live("none such"), 400, "bad_request")
    assert.deepStrictEqual([await builds(), (await getLive()).json.data], [total, before])
    assert.strictEqual((await hook("who")).json, "three")
  })

  it("with an endpoint of another project is 400", async () => {
    const reply = await server.upload("other", "taken", { build_type: "live" })
    refused(reply, 400, "bad_request")
    assert.include(reply.json.error.message, "GET /v/who")
    refused(await server.call("GET", "/v1/projects/other/builds/live"), 404, "not_found")
  })

  it("is uploaded once under an id of the client's", async () => {
    const build_id = "01890000-0000-4000-8000-00000000beef"
    assert.strictEqual((await live("two", { build_id })).status, 201)
    await live("three")
    const again = await live("two", { build_id })
    assert.deepStrictEqual([again.status, again.headers.get("x-build-exists")], [200, "true"])
    assert.strictEqual((await hook("who")).json, "three")
    refused(await server.upload("app", "two", { build_id }), 400, "bad_request")
  })

  it("ends: the deployed build serves again, the one deployed meanwhile if there is", async () => {
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

  it("needs build: execute, which does not suffice for other builds", async () => {
    for (const [actions, status] of [
      [["read", "create"], 403],
      [["execute"], 201]
    ] as const) {
      const { token } = await server.key({ "build:app": actions })
      const reply = await server.upload("app", "three", { build_type: "live" }, { token })
      assert.strictEqual(reply.status, status, reply.text)
      if (status === 403) assert.strictEqual(reply.json.error.code, "forbidden")
    }
    const { token } = await server.key({ "build:app": ["create"] })
    refused(await server.upload("app", "x", { build_type: "live", hash: "0".repeat(64) }, { token }), 403, "forbidden")
    await endLive()
    const { token: deployer } = await server.key({ "build:app": ["execute"] })
    refused(await server.upload("app", "x", {}, { token: deployer }), 403, "forbidden")
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
