/** Features of the test kit beyond the runtime: settings, errors and overlapping runs. */
import { describe, expect, it, vi } from "vitest"
import "../src/globals.ts"
import { handler, schedule, tool, webhook } from "../src/index.ts"
import { testEnv } from "../src/testing/index.ts"

const greet = handler("greeted", (event, svc) => ({ data: event.event_data, attempt: svc.run.attempt }))

describe("a run", () => {
  it("has the fields that the test sets", async () => {
    const env = testEnv({ now: "2030-05-06T07:08:09.000Z" })
    const facts = handler({ event: ["a", "b:*"] }, (event, svc) => [event.event_type, event.event_time, svc.run.run_id])
    const run = await env.event(facts, null, { type: "b:c", run: { run_id: "r1" }, attempt: 3 })
    expect(run.result).toEqual(["b:c", "2030-05-06T07:08:09.000Z", "r1"])
    expect(run.run).toMatchObject({ run_id: "r1", attempt: 3, run_type: "event", origin_run_id: null })
    const given = await env.event(facts, null, { type: "a", event: { event_time: "2020-01-01T00:00:00.000Z" } })
    expect(given.result).toEqual(["a", "2020-01-01T00:00:00.000Z", given.run.run_id])
  })

  it("is the same in every test", async () => {
    const once = await testEnv().event(greet, { name: "Ada" }, { attempt: 2 })
    expect(once.result).toEqual({ data: { name: "Ada" }, attempt: 2 })
    expect(await testEnv().event(greet, { name: "Ada" }, { attempt: 2 })).toEqual(once)
  })

  it("needs the event type if its function handles several", async () => {
    const several = handler("a:*", () => null)
    await expect(testEnv().event(several, null)).rejects.toThrow("set the option type")
  })

  it("shares its files with later runs and with the test", async () => {
    const env = testEnv({ files: { "in.txt": "text", "in.bin": new Uint8Array([1]) } })
    const copy = handler("copy", async (_, svc) => {
      const file = await svc.files.get("in.txt")
      await svc.files.put("out.txt", (await file?.text()) ?? "")
      return (await svc.files.list()).map(({ path, created_by_run_id }) => [path, created_by_run_id === svc.run.run_id])
    })
    const mine = [
      ["in.bin", false],
      ["in.txt", false],
      ["out.txt", true]
    ]
    expect((await env.event(copy, null)).result).toEqual(mine)
    expect((await env.event(copy, null)).result).toEqual(mine.map(([path]) => [path, false]))
    expect(await (await env.files.get("out.txt"))?.text()).toBe("text")
  })

  it("receives data converted through JSON, and cannot change the test's own", async () => {
    const data = { at: new Date(0), list: [1] }
    const change = handler("change", (event) => {
      const { list, at }: { list: Array<number>; at: unknown } = JSON.parse(JSON.stringify(event.event_data))
      return [list.push(2), at]
    })
    expect((await testEnv().event(change, data)).result).toEqual([2, "1970-01-01T00:00:00.000Z"])
    expect(data.list).toEqual([1])
  })
})

describe("stopping", () => {
  const waiting = handler("wait", async (_, svc) => {
    svc.log.info("begun")
    await new Promise((resolve) => svc.signal.addEventListener("abort", resolve))
    svc.log.info("too late")
    await svc.events.publish({ type: "too:late", data: 1 })
  })

  it("aborts the signal, and ends the run as cancelled without further calls", async () => {
    const stop = new AbortController()
    const ended = testEnv().event(waiting, null, { signal: stop.signal })
    await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    const run = await ended
    await new Promise((resolve) => setImmediate(resolve))
    expect(run).toMatchObject({ status: "cancelled", result: null, error: null, published: [] })
    expect(run.logs).toEqual([{ level: "info", message: "begun", data: null }])
  })

  it("also rejects calls of leftover work after the function returned", async () => {
    let refused: unknown
    const leaving = handler("leave", (_, svc) => {
      setImmediate(() => {
        svc.log.info("too late")
        svc.call("main/later").catch((error: unknown) => {
          refused = error
        })
      })
    })
    const run = await testEnv().event(leaving, null)
    await vi.waitFor(() => expect(refused).toMatchObject({ name: "RunEnded" }))
    expect(run).toMatchObject({ status: "succeeded", logs: [], calls: [] })
  })
})

describe("globals", () => {
  it("belong to the current run, even if runs overlap", async () => {
    const env = testEnv()
    const slow = async (ms: number) => {
      console.log("before", ms)
      await new Promise((resolve) => setTimeout(resolve, ms))
      console.log("after", ms)
      return svc.run.run_id
    }
    const runs = await Promise.all([20, 5, 10].map((ms) => env.call(slow, [ms])))
    for (const [index, ms] of [20, 5, 10].entries()) {
      expect(runs[index]?.result).toBe(runs[index]?.run.run_id)
      expect(runs[index]?.logs.map(({ message }) => message)).toEqual([`before ${ms}`, `after ${ms}`])
    }
  })

  it("are unchanged outside of runs", async () => {
    await testEnv().event(greet, null)
    expect(Reflect.get(globalThis, "svc")).toBeUndefined()
    await expect(fetch("data:text/plain,outside").then((response) => response.text())).resolves.toBe("outside")
  })

  it("respond to fetch with the test's handler", async () => {
    const env = testEnv({
      fetch: async (request) => Response.json({ method: request.method, url: request.url, sent: await request.text() })
    })
    const fetching = handler("fetch", async () => {
      const response = await fetch("https://api.test/x?y=1", { method: "POST", body: "sent" })
      return [response.status, await response.json()]
    })
    const answer = { method: "POST", url: "https://api.test/x?y=1", sent: "sent" }
    expect((await env.event(fetching, null)).result).toEqual([200, answer])
    expect((await testEnv().event(fetching, null)).error).toMatchObject({
      name: "TypeError",
      message: expect.stringContaining("https://api.test/x?y=1")
    })
  })
})

describe("callers", () => {
  it("default to null for open webhooks, and to an API key if one is required", async () => {
    const open = webhook({ service: "s", path: "x", auth: "none" }, (request, svc) => [svc.caller, request.url])
    const closed = webhook({ service: "s", path: "/", auth: "required" }, (request, svc) => ({
      type: svc.caller.type,
      user: request.auth.session?.meta ?? null
    }))
    const caller = { type: "session", id: "s1", permissions: {}, metadata: { user: 7 } } as const
    expect((await testEnv().request(open, {}, { caller })).result).toEqual([null, "/webhook/default/test/s/x"])
    expect((await testEnv().request(closed)).result).toEqual({ type: "api-key", user: null })
    expect((await testEnv().request(closed, {}, { caller })).result).toEqual({ type: "session", user: { user: 7 } })
  })

  it("of tools can also be set", async () => {
    const who = tool({ service: "s" }, (_, svc) => svc.caller?.id)
    const caller = { type: "service-key", id: "k1", permissions: {}, metadata: null } as const
    expect((await testEnv().tool(who, {}, { caller })).result).toBe("k1")
  })
})

describe("ticks", () => {
  it("have the function's own expression by default", async () => {
    const cron = schedule({ cron: ["0 1 * * *", "0 2 * * *"], timezone: "Europe/Oslo" }, (tick) => tick.cron)
    expect(cron.meta.schedule).toEqual([
      { cron: "0 1 * * *", timezone: "Europe/Oslo" },
      { cron: "0 2 * * *", timezone: "Europe/Oslo" }
    ])
    expect((await testEnv().tick(cron)).result).toBe("0 1 * * *")
    expect((await testEnv().tick(cron, { cron: "0 2 * * *" })).result).toBe("0 2 * * *")
  })
})

describe("fakes of svc", () => {
  const refused = Object.assign(new Error("never"), { name: "PlanRequired" })

  it("receive the payload and replace the behaviour of the kit", async () => {
    const seen: Array<unknown> = []
    const env = testEnv({
      context: { KEY: "secret" },
      svc: {
        "context.get": async ({ key }) => `fake of ${key}`,
        "events.publish": (event) => {
          seen.push(event)
          throw refused
        },
        "stream.emit": (message) => void seen.push(message)
      }
    })
    const run = await env.event(
      handler("a", async (_, svc) => [
        await svc.context.get("KEY"),
        await svc.context.all(),
        await svc.stream.emit("at", new Date(0)),
        await svc.events.publish({ type: "b", data: 1, delay: "1h" })
      ]),
      null
    )
    expect(run.error).toMatchObject({ name: "PlanRequired", message: "never" })
    expect(seen).toEqual([
      { data_type: "at", payload: "1970-01-01T00:00:00.000Z" },
      { type: "b", data: 1, delay: "1h" }
    ])
    expect(run).toMatchObject({ published: [], emitted: [] })
  })

  it("receive no calls with wrong arguments", async () => {
    const env = testEnv({ svc: { call: () => ({ event_id: "1", stream_id: "2" }) } })
    const run = await env.call(async (fn: string) => svc.call(fn), [JSON.parse("7")])
    expect(run.error).toMatchObject({
      name: "BadRequest",
      message: "svc.call takes a string, the function, and its args"
    })
    expect((await env.call(async () => svc.call("main/add", 7), [])).result).toEqual({ event_id: "1", stream_id: "2" })
  })
})

describe("functions", () => {
  it("of the build are called by name, and others are rejected; without them every call is accepted", async () => {
    const add = (a: number, b: number) => a + b
    const calling = handler("call", async (_, svc) => {
      await svc.call("shop:maths/add", [1, 2])
      return svc.invoke<typeof add>("maths/add", [1, 2])
    })
    const run = await testEnv({ functions: { maths: { add } } }).event(calling, null)
    expect(run).toMatchObject({ result: 3, calls: [{ fn: "shop:maths/add", args: [1, 2] }] })
    expect((await testEnv({ functions: {} }).event(calling, null)).error).toMatchObject({ name: "BadRequest" })
    const unknown = await testEnv().event(calling, null)
    expect(unknown).toMatchObject({ error: { name: "FunctionNotFound" }, calls: [{ fn: "shop:maths/add" }] })
  })
})
