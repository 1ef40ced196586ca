import { describe, expect, it } from "vitest"
import * as z from "zod"
import { type DurableSvc, durable, type Event } from "../../src/index.ts"
import { testDurable } from "../../src/testing/index.ts"

const start = { event: { data: null } } as const

const approval = durable({ event: "order", data: z.object({ id: z.string() }) }, async (event, svc) => {
  const price = await svc.step("price", () => 42)
  const answer = await svc.waitForEvent("approval", {
    event: "approved",
    match: { order: event.event_data.id },
    timeout: "3d"
  })
  if (answer === null) return { approved: false }
  await svc.sleep("settle", "2h")
  return { approved: true, price }
})

const order = { event: { data: { id: "o-1" } } } as const

describe("kit.run", () => {
  it("stops where the function waits for an event, and skips sleeps", async () => {
    const kit = testDurable(approval, order)
    expect(await kit.run()).toMatchObject({
      status: "running",
      waiting: { for: "event", name: "approval", since: "2026-01-01T00:00:00.000Z", until: "2026-01-04T00:00:00.000Z" }
    })
    await kit.events.publish({ type: "approved", data: { order: "o-2" } })
    await kit.events.publish({ type: "approved", data: { order: "o-1" } })
    expect(kit.waiting).toMatchObject({ for: "timer", name: "settle" })
    expect(await kit.run()).toMatchObject({ status: "succeeded", result: { approved: true, price: 42 } })
    expect(kit.now.toISOString()).toBe("2026-01-01T02:00:00.002Z")
    expect(kit.history().map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "step price",
      "event approval",
      "sleep settle"
    ])
  })

  it("fails the run when its timeout has passed", async () => {
    const sleeper = durable({ event: "sleep", timeout: "2d" }, (_, svc) => svc.sleep("long", "30d"))
    const { status, error } = await testDurable(sleeper, start).run()
    expect([status, error?.name]).toEqual(["failed", "TimedOut"])
  })

  it("knows the types of the event, the arguments and the result", async () => {
    // @ts-expect-error the data of the event has an id
    expect(() => testDurable(approval, { event: { data: {} } })).not.toThrow()
    const { result } = await testDurable(approval, order).advance("3d")
    const approved: boolean | undefined = result?.approved
    // @ts-expect-error the result has no such field
    expect([approved, result?.other]).toEqual([false, undefined])
  })

  it("rejects a function that is not durable", () => {
    expect(() => testDurable((_: Event) => 1, start)).toThrow("testDurable takes a durable function")
  })

  it("accepts a function that is strict", async () => {
    const fn = durable({ event: "order", strict: true }, (_, svc) => svc.step("one", () => 1))
    expect(await testDurable(fn, start).run()).toMatchObject({ status: "succeeded", result: 1 })
  })
})

describe("kit.advance", () => {
  it("ends waits at their time, not earlier", async () => {
    const kit = testDurable(approval, order)
    expect(await kit.advance("71h")).toMatchObject({ status: "running" })
    expect(await kit.advance("1h")).toMatchObject({ status: "succeeded", result: { approved: false } })
  })

  it("without a time continues to the end of the next wait", async () => {
    const kit = testDurable(approval, order)
    await kit.start()
    expect(await kit.advance()).toMatchObject({ result: { approved: false } })
    expect(kit.now.toISOString()).toBe("2026-01-04T00:00:00.000Z")
  })
})

describe("doubles", () => {
  const charge = durable({ event: "order", retry: { attempts: 3, delay: "1h", jitter: false } }, async (_, svc) => {
    const receipt = await svc.step("charge", async (): Promise<string> => Promise.reject(new Error("no network")))
    return { receipt }
  })

  it("replace the bodies of steps", async () => {
    const kit = testDurable(charge, start)
    kit.steps.mock("charge", ({ idempotencyKey }: { readonly idempotencyKey: string }) => `r ${idempotencyKey}`)
    const run_id = "00000000-0000-7000-8000-000000000004"
    expect((await kit.run()).result).toEqual({ receipt: `r ${run_id}:0` })
  })

  it("fail by order, and the policy of the function repeats them", async () => {
    const kit = testDurable(charge, start)
    kit.steps.mock("charge", "r-1")
    kit.fail("charge", { times: 2 })
    expect(await kit.start()).toMatchObject({
      waiting: { for: "retry", name: "charge", until: "2026-01-01T01:00:00.000Z" }
    })
    expect(await kit.advance("1h")).toMatchObject({ waiting: { for: "retry", until: "2026-01-01T02:00:00.000Z" } })
    expect(await kit.run()).toMatchObject({ status: "succeeded", result: { receipt: "r-1" } })
    expect(kit.history()).toMatchObject([{ name: "charge", attempts: 3 }])
  })

  it("fail the run after the last attempt", async () => {
    const kit = testDurable(charge, start)
    kit.fail("charge", { times: 3, error: new RangeError("declined") })
    expect((await kit.run()).error).toMatchObject({ name: "RangeError", message: "declined" })
  })
})

describe("a crash", () => {
  it("repeats a step whose result was lost, with the same key and attempt", async () => {
    const keys: Array<string> = []
    const fn = durable("order", async (_, svc) => {
      await svc.step("first", () => "first")
      return svc.step("second", ({ attempt, idempotencyKey }) => {
        keys.push(`${idempotencyKey} ${attempt}`)
        return keys.length
      })
    })
    const kit = testDurable(fn, start)
    kit.crashAt(1)
    expect((await kit.run()).result).toBe(2)
    expect(new Set(keys).size).toBe(1)
    expect([kit.activations, kit.history().length]).toEqual([2, 2])
  })

  it("loses no event that has arrived", async () => {
    const kit = testDurable(approval, order)
    await kit.run()
    kit.crashAt(1)
    await kit.events.publish({ type: "approved", data: { order: "o-1" } })
    expect((await kit.run()).result).toEqual({ approved: true, price: 42 })
  })
})

describe("kit.crashEverywhere", () => {
  it("accepts a function that makes the same requests each time", async () => {
    const kit = testDurable(approval, order)
    await kit.run()
    await kit.events.publish({ type: "approved", data: { order: "o-1" } })
    await kit.run()
    expect(await kit.crashEverywhere({ strict: true })).toEqual({ replays: 4, warnings: [] })
  })

  it("finds requests that depend on the clock, with their lines", async () => {
    const fn = durable("order", async (_, svc) => {
      await svc.step(`hour ${new Date().getHours()}`, () => 1)
      await svc.sleep("pause", "10ms")
    })
    await expect(testDurable(fn, start).crashEverywhere()).rejects.toThrow(
      /after 0 of 2 results, request 0 step "hour \d+" \(packages\/sdk\/test\/durable\/kit\.test\.ts:\d+\) was step "hour \d+" \(/
    )
  })

  it("finds data that leaves a step by a variable", async () => {
    const fn = durable("order", async (_, svc) => {
      let total = 0
      await svc.step("sum", () => {
        total = 3
      })
      return total
    })
    await expect(testDurable(fn, start).crashEverywhere()).rejects.toMatchObject({
      name: "NonDeterminism",
      message: expect.stringContaining("ended with 3 before and ends with 0 now")
    })
  })

  it("finds requests that a variable of the module suppresses", async () => {
    let isDone = false
    const fn = durable("order", async (_, svc) => {
      if (!isDone) await svc.step("once", () => 1)
      isDone = true
      await svc.step("always", () => 1)
    })
    await expect(testDurable(fn, start).crashEverywhere()).rejects.toThrow(/request 0 step "always" .* was step "once"/)
  })

  const effects = durable("order", async (_, svc) => {
    void svc.events.publish({ type: "begun", data: {} })
    const id = crypto.randomUUID()
    await svc.step("use", async () => {
      await svc.files.put("id", `${id} ${Date.now()} ${Math.random()}`)
      await svc.events.publish({ type: "used", data: {} })
    })
    console.log("done")
    return 1
  })

  it("warns of calls outside of steps, and not of those in bodies", async () => {
    const kit = testDurable(effects, start)
    const { warnings } = await kit.crashEverywhere()
    expect(warnings).toMatchObject([
      { call: "svc.events.publish", at: expect.stringMatching(/durable\/kit\.test\.ts:\d+$/) },
      { call: "crypto.randomUUID", at: expect.stringMatching(/durable\/kit\.test\.ts:\d+$/) }
    ])
    expect(kit.published.map(({ type }) => type)).toEqual(["begun", "used"])
  })

  it("rejects such calls if it is strict", async () => {
    await expect(testDurable(effects, start).crashEverywhere({ strict: true })).rejects.toMatchObject({
      name: "SideEffects",
      message: expect.stringContaining("- svc.events.publish (packages/sdk/test/durable/kit.test.ts:")
    })
  })

  it("warns of requests in bodies, and of arguments that change", async () => {
    const fn = durable("order", async (_, svc) => {
      await svc.step("outer", async () => void svc.sleep("inner", 1))
    })
    const kit = testDurable(fn, start)
    await expect(kit.crashEverywhere()).rejects.toMatchObject({ name: "NonDeterminism" })
    expect(kit.warnings).toMatchObject([
      { call: "svc.sleep", problem: 'is in the body of the step "outer": call it outside of steps' }
    ])
    const late = testDurable(
      durable("order", (_, svc) => svc.sleepUntil("tomorrow", Date.now() + 86_400_000)),
      start
    )
    const { warnings } = await late.crashEverywhere()
    expect(warnings.map(({ call, problem }) => `${call} ${problem}`)).toEqual([
      "Date.now runs outside of steps: put it into svc.step",
      'sleep "tomorrow" has other arguments in a replay'
    ])
  })

  it("finds requests that a replay reaches too late, and names the calls that they wait for", async () => {
    const fn = durable("order", async (_, svc) => {
      await fetch("https://rates.example.test")
      await svc.files.list()
      await new Promise((resolve) => setTimeout(resolve, 1))
      return svc.step("end", () => Math.floor(Math.random()))
    })
    const kit = testDurable(fn, { ...start, fetch: () => Response.json(1) })
    const found = await kit.crashEverywhere().catch((error: Error) => error)
    expect(found).toMatchObject({ name: "NonDeterminism" })
    expect(kit.warnings.map(({ call }) => call)).toEqual(["fetch", "svc.files.list", "setTimeout"])
  })
})

describe("other requests", () => {
  const svcOf = (
    fn: (svc: DurableSvc & Readonly<Record<string, (...args: ReadonlyArray<unknown>) => Promise<unknown>>>) => unknown
  ) => Object.assign((_: Event, svc: never) => fn(svc), { meta: { event: "order", durable: true } })

  it("wait for tokens", async () => {
    const fn = svcOf(async (svc) => {
      const token = await svc.createToken?.("approval", { timeout: "3d" })
      return [await svc.waitForToken?.(token), await svc.waitForToken?.(Reflect.get(Object(token), "token"))]
    })
    const kit = testDurable(fn, start)
    expect((await kit.run()).waiting).toMatchObject({ for: "token", name: "approval" })
    await kit.tokens.complete("approval", { by: "ada" })
    expect(kit.result).toEqual([
      { ok: true, data: { by: "ada" } },
      { ok: true, data: { by: "ada" } }
    ])
    await expect(kit.tokens.complete("approval")).rejects.toMatchObject({ name: "TokenCompleted" })
    await kit.crashEverywhere({ strict: true })

    const late = testDurable(fn, start)
    await late.advance("3d")
    expect(late.result).toEqual([
      { ok: false, reason: "timeout" },
      { ok: false, reason: "timeout" }
    ])
  })

  it("invoke functions, or their doubles", async () => {
    const fn = svcOf((svc) => svc.invoke("main/add", [1, 2]))
    expect(
      (await testDurable(fn, { ...start, functions: { add: (a: number, b: number) => a + b } }).run()).result
    ).toBe(3)
    const kit = testDurable(fn, start)
    kit.functions.mock("main/add", (a: number) => a)
    expect((await kit.run()).result).toBe(1)
    expect(kit.history()).toMatchObject([{ kind: "run", name: "main/add" }])
  })

  it("record child runs by their names", async () => {
    const fn = svcOf((svc) => svc.invoke("main/add", [1, 2], { name: "sum" }))
    const kit = testDurable(fn, { ...start, functions: { add: (a: number, b: number) => a + b } })
    expect((await kit.run()).result).toBe(3)
    expect(kit.history()).toMatchObject([{ kind: "run", name: "sum" }])
    await kit.crashEverywhere({ strict: true })
  })

  it("continue as new", async () => {
    const kit = testDurable(
      svcOf((svc) => svc.continueAsNew?.({ page: 2 })),
      start
    )
    expect(await kit.run()).toMatchObject({ status: "succeeded", result: null, continuedWith: { page: 2 } })
  })

  it("fan out with a limit, and undo steps in reverse order", async () => {
    const undone: Array<string> = []
    let active = 0
    let most = 0
    const fn = svcOf(async (svc) => {
      const saga: { readonly step: (...args: ReadonlyArray<unknown>) => Promise<unknown> } = Object(
        Reflect.apply(Object(svc.saga), undefined, [])
      )
      await saga.step(
        "a",
        () => 1,
        (result: unknown) => void undone.push(`a ${result}`)
      )
      await saga.step(
        "b",
        () => 2,
        (result: unknown) => void undone.push(`b ${result}`)
      )
      await svc.all?.(
        [1, 2, 3, 4, 5],
        (n: unknown) =>
          svc.step(`part ${n}`, async () => {
            most = Math.max(most, ++active)
            await new Promise((resolve) => setTimeout(resolve, 1))
            active--
          }),
        { concurrency: 2 }
      )
      throw new Error("too late")
    })
    const kit = testDurable(fn, start)
    expect((await kit.run()).error).toMatchObject({ message: "too late" })
    expect([most, undone]).toEqual([2, ["b 2", "a 1"]])
    expect(
      kit
        .history()
        .slice(-2)
        .map(({ name }) => name)
    ).toEqual(["undo b", "undo a"])
    await kit.crashEverywhere({ strict: true })
  })

  it("reject when the run is cancelled with a cleanup", async () => {
    const fn = durable("order", async (_, svc) => {
      try {
        await svc.sleep("long", "2d")
      } finally {
        await svc.sleep("pause", "5s")
        await svc.step("clean up", () => svc.log.info("cleaned"))
      }
    })
    const kit = testDurable(fn, start)
    await kit.start()
    expect(await kit.cancel({ cleanup: true })).toMatchObject({ status: "running", waiting: { name: "pause" } })
    expect(await kit.run()).toMatchObject({ status: "cancelled", error: null })
    expect(kit.logs).toMatchObject([{ message: "cleaned" }])

    const plain = testDurable(fn, start)
    await plain.start()
    expect(await plain.cancel()).toMatchObject({ status: "cancelled" })
    expect(plain.logs).toEqual([])
  })

  it("undo the steps of a cancelled run that returns", async () => {
    const fn = durable("order", async (_, svc) => {
      await svc.step("a", () => 1, { compensate: () => svc.log.info("undone") })
      await svc.sleep("long", "2d").catch(() => undefined)
      return "ignored"
    })
    const kit = testDurable(fn, start)
    await kit.start()
    expect(await kit.cancel({ cleanup: true })).toMatchObject({ status: "cancelled", result: null })
    expect(kit.logs).toMatchObject([{ message: "undone" }])
  })

  it("receive their arguments and svc when the function is called by its name", async () => {
    const fn = Object.assign((page: number, svc: DurableSvc) => svc.step("next", () => page + 1), {
      meta: { durable: true }
    })
    expect((await testDurable(fn, { args: [1] }).run()).result).toBe(2)
  })
})
