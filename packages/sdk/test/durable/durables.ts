/** Durable functions that run in the test kit and in the runtime, for the comparison of both. */
import { type DurableSvc, durable } from "../../src/index.ts"

/** An event type that the compiler does not know, so that the functions have one type. */
const on = (type: string): string => type

const thrice = { attempts: 3, delay: "1100ms", backoff: 1, jitter: false } as const

export const steps = durable(on("steps"), async (event, svc) => {
  svc.log.info("begin")
  const a = await svc.step("a", () => `${event.event_type} a`)
  svc.log.info("after a")
  await svc.sleep("pause", 1200)
  svc.log.info("after pause")
  const both = await Promise.all([
    svc.step("b", ({ attempt, idempotencyKey }) => ({ a, attempt, idempotencyKey })),
    svc.step("c", () => undefined),
    svc.step("c", () => null)
  ])
  return { a, both, random: [svc.random(), svc.random()], uuid: svc.uuid(), time: svc.now() > 0 }
})

export const retried = durable({ event: on("retried"), retry: thrice }, async (_, svc) => {
  const value = await svc.step("flaky", ({ attempt, idempotencyKey }) => {
    svc.log.info(`attempt ${attempt}`)
    if (attempt < 3) throw new RangeError("not yet")
    return idempotencyKey
  })
  const error = await svc
    .step("fails", () => Promise.reject(new RangeError("never")), { retry: { attempts: 2, delay: 0 } })
    .catch((thrown: Error) => [thrown.name, thrown.message, thrown instanceof RangeError])
  return { value, error }
})

export const unstorable = durable({ event: on("unstorable"), retry: thrice }, async (_, svc) => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const failures: Array<ReadonlyArray<string>> = []
  const bodies: ReadonlyArray<() => unknown> = [() => () => 1, () => 10n, () => "x".repeat(300_000), () => cycle]
  for (const body of bodies) {
    await svc.step("result", body).catch(({ name, message }: Error) => failures.push([name, message.slice(0, 60)]))
  }
  return failures
})

export const wrong = durable(on("wrong"), async (_, svc) => {
  const refused: Array<string> = []
  const note = (error: Error) => refused.push(`${error.name}: ${error.message}`)
  await svc.sleep("", "1s").catch(note)
  // @ts-expect-error that is not a duration
  await svc.sleep("long", "tomorrow").catch(note)
  await svc.sleep("long", "400d").catch(note)
  await svc.sleepUntil("invalid", "tomorrow").catch(note)
  await svc.waitForEvent("empty", { event: "" }).catch(note)
  await svc.waitForEvent("path", { event: "a", match: { "a..b": 1 } }).catch(note)
  await svc.step("policy", () => 1, { retry: { attempts: 0 } }).catch(note)
  await svc.step("policy", () => 1, { retry: { attempts: 2, delay: "500d" } }).catch(note)
  // @ts-expect-error that is not an option
  await svc.step("policy", () => 1, { retry: { times: 2 } }).catch(note)
  return refused
})

export const fan = durable(on("fan"), async (_, svc) => {
  const order: Array<number> = []
  await Promise.all(
    Array.from({ length: 20 }, async (_, part) => {
      await svc.step(`part ${part}`, async () => {
        for (let turns = 0; turns < (part * 7) % 13; turns++) await Promise.resolve()
      })
      order.push(part)
    })
  )
  await svc.sleep("pause", 1200)
  return order
})

export const bounded = durable(on("bounded"), async (_, svc) => {
  const started: Array<number> = []
  const doubled = await svc.all(
    [1, 2, 3, 4, 5],
    async (item, index) => {
      started.push(index)
      return svc.step(`item ${item}`, () => item * 2)
    },
    { concurrency: 2 }
  )
  const failure = await svc
    .all([1, 2, 3], (item) => svc.step(`fails ${item}`, () => Promise.reject(new RangeError(`item ${item}`))), {
      concurrency: 1
    })
    .catch(({ name, message }: Error) => `${name}: ${message}`)
  return { doubled, started, failure }
})

export const undone = durable({ event: on("undone"), retry: thrice }, async (_, svc) => {
  const saga = svc.saga()
  const once = { retry: { attempts: 1 } } as const
  await saga.step(
    "a",
    () => "a",
    (result) => svc.log.info(`without ${result}`)
  )
  await saga.step(
    "b",
    () => "b",
    () => Promise.reject(new RangeError("not undone")),
    once
  )
  await svc.step("c", () => "c", { compensate: (result, { attempt }) => [result, attempt] })
  await svc.step("d", () => Promise.reject(new TypeError("broken")), once)
})

export const waits = durable(on("waits"), async (event, svc) => {
  const paid = await svc.waitForEvent("paid", {
    event: "paid",
    match: { "data.order.id": event.event_data },
    timeout: "1h"
  })
  const none = await svc.waitForEvent("none", { event: "none", timeout: 20 })
  const early = await svc.waitForEvent("early", { event: "paid", match: { amount: 1 }, since: "start", timeout: "1h" })
  return [paid?.event_data, none, early?.event_data]
})

let runs = 0
export const changing = durable(on("changing"), async (_, svc) => {
  runs++
  await svc.step(runs % 2 === 1 ? "first" : "second", () => 1)
  await svc.sleep("pause", 1200)
})

let visits = 0
export const shorter = durable(on("shorter"), async (_, svc) => {
  visits++
  if (visits % 2 === 0) return "early"
  await svc.sleep("first", 1200)
  await svc.sleep("second", 1200)
  return "late"
})

/** Awaits a host call outside of steps, which no replay waits for. */
export const awaiting = durable(on("awaiting"), async (_, svc) => {
  const key = await svc.context.get("KEY")
  await svc.step("use", () => key)
  await svc.sleep("pause", 1200)
  return key
})

export const versions = durable(on("versions"), async (_, svc) => {
  const before = await svc.version("form", 2)
  await svc.step("a", () => before)
  const [b, c] = await Promise.all([svc.step("b", () => 1), svc.version("other", 7)])
  await svc.sleep("pause", 1200)
  return [before, b, c, await svc.version("form", 3), await svc.version("late", 1)]
})

export const strict = durable({ event: on("strict"), strict: true }, async (_, svc) => {
  const inside = await svc.step("inside", () => svc.events.publish({ type: "none", data: 1 }).then(() => "published"))
  await svc.context.get("KEY")
  const refused = await svc.events.publish({ type: "none", data: 1 }).catch((error: Error) => error)
  const fetched = await fetch("https://rates.example.test").catch((error: Error) => error)
  return [inside, ...[refused, fetched].map((error) => error instanceof Error && `${error.name}: ${error.message}`)]
})

export const stalled = durable(on("stalled"), () => new Promise(() => undefined))

export const failing = durable(on("failing"), async (_: unknown, svc: DurableSvc) => {
  await svc.step("first", () => 1)
  throw new RangeError("the function fails")
})
