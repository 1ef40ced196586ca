/** Compares the test kit with the runtime: the same functions have the same results. */
import { HostRefused, hostFunction } from "@weft/core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as z from "zod"
import { type TestAnswer, type TestRequest, type TestRun, testEnv } from "../src/testing/index.ts"
import { bundleOf } from "./bundle.ts"
import * as project from "./project/index.ts"
import { type Seen, startRuntime } from "./Runtime.ts"

const assets = { "data/prices.json": '{"a": 1}' }
const order = { id: "o-1", total: 21, placed: "2026-02-03T04:05:06Z" }

const find = (id: string) => (id === "1" ? { id, at: new Date(0), more: undefined } : null)

const kit = () => testEnv({ context: { KEY: "secret" }, assets, functions: project })

/** Selects the fields that both report. */
const reported = ({ status, result, error, logs }: TestRun<unknown> | Seen): Seen => ({
  status,
  result,
  error: error === null ? null : { name: error.name, message: error.message },
  logs
})

let runtime: Awaited<ReturnType<typeof startRuntime>>

beforeAll(async () => {
  runtime = await startRuntime(await bundleOf(`export * from "./project/index.ts"`), assets, {
    "shop.find": hostFunction({ input: z.object({ id: z.string() }), output: z.any() }, ({ id }) => find(id)),
    "shop.find.first": hostFunction({ output: z.string() }, () => "1"),
    "shop.note": hostFunction({ input: z.object({ id: z.string() }) }, ({ id }) => id),
    "shop.refuse": hostFunction({}, () => {
      throw new HostRefused({ name: "NoWay", message: "never" })
    })
  })
}, 60_000)

afterAll(() => runtime.close())

describe("an event", () => {
  it("has the same results, logs and records", async () => {
    const event = await runtime.env.events.publish({ type: "order:created", data: order })
    const runs = () => runtime.env.events.runs(event.event_id)
    const same = async (name: string, own: TestRun<unknown>) => {
      expect(reported(own), name).toEqual(await runtime.seen(await runtime.ended(name, runs)))
      expect(own.status, name).toBe("succeeded")
    }
    const options = { type: "order:created" } as const
    await same("onOrder", await kit().event(project.onOrder, order, options))
    await same("refusals", await kit().event(project.refusals, order, options))
    await same("stored", await kit().event(project.stored, order, options))

    const own = await kit().event(project.onOrder, order)
    const events = (await runtime.events()).filter(({ event_id }) => event_id !== event.event_id)
    const of = (type: string) => events.filter(({ event_type }) => event_type === type).map((it) => it.event_data)
    expect(own.published.map(({ data }) => data)).toEqual(of("order:priced"))
    expect(sorted(own.calls)).toEqual(sorted(of("svc:call")))
    expect(own.scheduled.map(({ schedule_id: _, ...asked }) => asked)).toEqual(of("svc:schedule:new"))
    expect(own.cancelled).toHaveLength(of("svc:schedule:cancel").length)

    const run = await runtime.ended("onOrder", runs)
    const emitted = runtime.emitted.filter(({ run_id }) => run_id === run.run_id)
    expect(own.emitted).toEqual(emitted.map(({ data_type, payload }) => ({ data_type, payload })))
    expect(own.emitted).toHaveLength(2)
  })

  it("with invalid data fails in the same way, at each attempt", async () => {
    const wrong = { id: 7, total: -1, placed: "when" }
    const event = await runtime.env.events.publish({ type: "order:created", data: wrong })
    const run = await runtime.ended("onOrder", () => runtime.env.events.runs(event.event_id))
    // @ts-expect-error that is not an order
    const own = await kit().event(project.onOrder, wrong)
    expect(reported(own)).toEqual(await runtime.seen(run))
    expect(own.error).toMatchObject({
      name: "Invalid",
      message: expect.stringMatching(/^order:created .* id: .*; total/)
    })
  })
})

const sorted = (values: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  values.map((value) => JSON.stringify(value, ["fn", "args", "id", "total"])).sort()

describe("a call", () => {
  it("calls host functions", async () => {
    const { run } = await runtime.env.call({ fn: "main/hosted", args: [], wait: 20 })
    const env = testEnv({
      host: {
        "shop.find": ({ id }) => JSON.parse(JSON.stringify(find(id))),
        "shop.find.first": async () => "1",
        "shop.note": () => undefined,
        "shop.refuse": () => {
          throw Object.assign(new Error("never"), { name: "NoWay" })
        }
      }
    })
    const own = await env.call(project.hosted, [])
    expect(reported(own)).toEqual(run && (await runtime.seen(run)))
    expect(own.result).toMatchObject([
      { found: { id: "1", at: "1970-01-01T00:00:00.000Z" }, none: null, refused: "NoWay", absent: "NotFound" },
      null,
      "function",
      true
    ])
    expect(own.hostCalls.slice(0, 3)).toEqual([
      { name: "shop.find", input: { id: "1" } },
      { name: "shop.find", input: { id: "2" } },
      { name: "shop.find.first", input: undefined }
    ])
  })

  it("receives its arguments, and svc as a global", async () => {
    const { run } = await runtime.env.call({ fn: "main/charge", args: [{ id: "7", total: 2 }], wait: 20 })
    const own = await kit().call(project.charge, [{ id: "7", total: 2 }])
    expect(reported(own)).toEqual(run && (await runtime.seen(run)))
    expect(own.result).toMatchObject({ sum: 3, message: { text: "hi" } })
  })

  it.each(["text", "named", "bigint", "function", "other"])(
    "that ends badly (%s) fails in the same way",
    async (how) => {
      const { run } = await runtime.env.call({ fn: "main/throwing", args: [how], wait: 20 })
      const seen = run && (await runtime.seen(run))
      const own = await kit().call(project.throwing, [how])
      expect(own.status).toBe("failed")
      expect(own.error?.name).toBe(seen?.error?.name)
      // For values that are not JSON, the runtime also names the function.
      if (how !== "function") expect(own.error?.message).toBe(seen?.error?.message)
    }
  )
})

it("a tick has the same result", async () => {
  const run = await runtime.ended("tick", async () => (await runtime.env.runs.list({ type: "schedule" })).items)
  expect(reported(await kit().tick(project.tick))).toEqual(await runtime.seen(run))
})

describe("a webhook", () => {
  const { echo, checked, texty, bytes, web, empty, nothing, broken, known } = project
  const hooks = { echo, checked, texty, bytes, web, empty, nothing, broken, known }
  const cases: ReadonlyArray<[keyof typeof hooks, string, TestRequest]> = [
    ["echo", "JSON", { body: { a: [1, "ö"] }, query: { q: "1" }, headers: { "X-Forwarded-For": "1.2.3.4, 5.6.7.8" } }],
    ["echo", "a form", { body: "a=1&b=x%20y&a=2", headers: { "content-type": "application/x-www-form-urlencoded" } }],
    ["echo", "text", { body: "plain", headers: { "content-type": "text/plain; charset=utf-8" } }],
    ["echo", "text without a type", { body: "plain" }],
    ["echo", "invalid JSON", { body: "{", headers: { "content-type": "application/json" } }],
    ["echo", "bytes", { body: new Uint8Array([255, 0, 1]), headers: { "content-type": "image/png" } }],
    ["echo", "no body", { headers: { "x-real-ip": "9.9.9.9" } }],
    ["checked", "a valid request", { body: { n: 2 }, query: { times: "21" } }],
    ["checked", "a wrong body", { body: { n: "2" }, query: { times: "21" } }],
    ["checked", "a wrong query", { body: { n: 2 }, query: { times: "1.5" } }],
    ["texty", "anything", {}],
    ["bytes", "anything", {}],
    ["web", "anything", {}],
    ["empty", "anything", {}],
    ["nothing", "anything", {}],
    ["broken", "anything", {}],
    ["known", "anything", {}]
  ]

  it.each(cases)("%s responds to %s in the same way", async (name, _, request) => {
    const fn = hooks[name]
    const own: TestAnswer = await kit().request(fn, {
      url: `/webhook/acme/test/hooks${fn.meta.webhook.path}`,
      ...request
    })
    const answer = await runtime.send(sent(fn.meta.webhook.path, request)).catch(() => null)
    expect(own.status === "failed").toBe(answer === null)
    expect(own.response.status).toBe(answer?.status ?? 500)
    if (answer === null) return
    const headers = Object.entries(answer.headers).flatMap(([header, value]) =>
      [value].flat().map((it) => [header, it])
    )
    expect([...own.response.headers]).toEqual(headers.sort())
    expect(Buffer.from(await own.response.arrayBuffer())).toEqual(Buffer.from(answer.body))
    const { items } = await runtime.env.runs.list({ type: "call" })
    const run = items.find((it) => it.var === name)
    expect(own.result).toEqual(run?.result)
  })

  /** Returns the received request. */
  const sent = (path: string, { body, headers = {}, query = {} }: TestRequest) => {
    const isRaw = typeof body === "string" || body instanceof Uint8Array
    const bytes = body === undefined ? null : Buffer.from(isRaw ? body : JSON.stringify(body))
    const typed = body === undefined || isRaw ? {} : { "content-type": "application/json" }
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    return { path, body: bytes, query, headers: { ...typed, ...lower } }
  }
})

describe("a tool", () => {
  it("declares its arguments as JSON Schema and receives validated ones", async () => {
    const { answer, input } = await runtime.callTool("crm", "lookup", { id: "77" })
    expect(input).toMatchObject({
      type: "object",
      properties: { id: { type: "string", minLength: 2 } },
      required: ["id"]
    })
    const own = await kit().tool(project.lookup, { id: "77" })
    expect(answer).toEqual({ _tag: "Returned", output: JSON.stringify(own.result) })
  })

  it("fails for invalid arguments", async () => {
    const { answer } = await runtime.callTool("crm", "lookup", { id: "7" })
    const own = await kit().tool(project.lookup, { id: "7" })
    expect(answer).toMatchObject({ _tag: "Failed", name: own.error?.name, message: own.error?.message })
    expect(own.error?.name).toBe("Invalid")
  })
})
