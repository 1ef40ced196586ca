/** Weft as a program of workflows: durable functions in isolates, on SQLite, or on PostgreSQL if a URL is given. */
import { DatabaseSync } from "node:sqlite"
import type { WeftEnv } from "@weft/core"
import { queryAt } from "../instruments/Query.ts"
import { serve } from "../programs/Serve.ts"
import { startEmbedded } from "./Embedded.ts"

const source = `
const body = (n) => () => ({ done: n })

export const sequence = async (event, svc) => {
  const { n, steps } = event.event_data
  for (let step = 0; step < steps; step++) await svc.step("step", body(n))
  return { n }
}
sequence.meta = { event: "sequence", durable: true }

export const fanOut = async (event, svc) => {
  const { n, steps } = event.event_data
  await Promise.all(Array.from({ length: steps }, () => svc.step("step", body(n))))
  return { n }
}
fanOut.meta = { event: "fanOut", durable: true }

export const sleeper = async (event, svc) => {
  const { n, until } = event.event_data
  await svc.sleepUntil("until", until)
  return { n, at: Date.now() }
}
sleeper.meta = { event: "sleeper", durable: true }

export const waiter = async (event, svc) => {
  const { n, steps } = event.event_data
  for (let step = 0; step < steps; step++) await svc.step("step", body(n))
  await svc.waitForEvent("signal", { event: "signal", match: { n } })
  return { n, at: Date.now() }
}
waiter.meta = { event: "waiter", durable: true }
`

/** Events per call of `publishMany`. */
const batch = 1_000

/** Returns a function that waits for the end of a workflow, and returns its time. Activity follows the commit. */
const watchEnds = (env: WeftEnv): ((n: number) => Promise<number>) => {
  const waiting = new Map<number, (at: number) => void>()
  const watch = async (): Promise<void> => {
    for await (const message of env.activity()) {
      if (message.type === "run:fail") throw new Error(`A run failed: ${message.result}`)
      if (message.type !== "run:stop") continue
      const { n, at = 0 }: { n: number; at?: number } = JSON.parse(message.result)
      waiting.get(n)?.(at)
      waiting.delete(n)
    }
  }
  void watch()
  return (n) => new Promise((resolve) => waiting.set(n, resolve))
}

/** Returns a function that counts suspended runs in the database itself, because the API lists runs in pages. */
const countSuspended = (file: string | null, url = ""): (() => Promise<number>) => {
  const text = "SELECT count(*) AS n FROM runs WHERE status = 'running' AND waiting IS NOT NULL"
  if (file === null) {
    const query = queryAt(url)
    return async () => Number((await query(text))[0]?.n)
  }
  const count = new DatabaseSync(file, { readOnly: true }).prepare(text)
  return async () => Number(count.get()?.n)
}

await serve(async ({ url }) => {
  const { env, file, close } = await startEmbedded(source, url)
  const ended = watchEnds(env)
  const publish = async (type: string, data: object): Promise<void> => {
    await env.events.publish({ type, data: { ...data } })
  }
  const publishMany = async (type: string, first: number, count: number, dataOf: (n: number) => object) => {
    for (let from = first; from < first + count; from += batch) {
      const numbers = Array.from({ length: Math.min(batch, first + count - from) }, (_, index) => from + index)
      await env.events.publishMany(numbers.map((n) => ({ type, data: { n, ...dataOf(n) } })))
    }
  }
  const run = async (type: string, n: number, steps: number): Promise<void> => {
    const end = ended(n)
    await publish(type, { n, steps })
    await end
  }
  return {
    settings: {
      code: "embedded; user code in isolates, in two runner processes",
      durability: url === undefined ? "SQLite, WAL, synchronous=FULL" : "same as the PostgreSQL server; 10 connections"
    },
    sequence: (n, steps) => run("sequence", n, steps),
    fanOut: (n, steps) => run("fanOut", n, steps),
    waits: {
      replays: true,
      sleep: (first, count, until) => publishMany("sleeper", first, count, (n) => ({ until: until(n) })),
      wait: (first, count, steps) => publishMany("waiter", first, count, () => ({ steps })),
      suspended: countSuspended(file, url),
      signal: (n) => publish("signal", { n }),
      continued: ended,
      publish: (kind) => publish(kind, { n: -1 }),
      cancelAll: async () => {
        await env.runs.cancelAll()
      }
    },
    close
  }
})
