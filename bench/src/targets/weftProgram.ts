/** Weft as a job program: handlers in isolates, on SQLite, or on PostgreSQL if a URL is given. */
import { setTimeout as sleep } from "node:timers/promises"
import type { WeftEnv } from "@weft/core"
import { makeJob } from "../programs/JobProgram.ts"
import { serve } from "../programs/Serve.ts"
import { startEmbedded } from "./Embedded.ts"

const source = `
export const onJob = (event) => ({ done: event.event_data.n })
onJob.meta = { event: "job" }

export const onTimed = () => Date.now()
onTimed.meta = { event: "timed" }

export const first = async (event, svc) => {
  await svc.events.publish({ type: "second", data: event.event_data })
  return { done: 1 }
}
first.meta = { event: "first" }
export const second = async (event, svc) => {
  await svc.events.publish({ type: "third", data: event.event_data })
  return { done: 2 }
}
second.meta = { event: "second" }
export const third = (event) => ({ flow: event.event_data.n })
third.meta = { event: "third" }
`

/** Time in which an idle system has handled an event, in milliseconds. Earlier polls would disturb it. */
const settledMs = 4

/** Resolves flows when their last run has ended; activity about a run follows its commit. */
const watchFlows = (env: WeftEnv): ((n: number) => Promise<void>) => {
  const waiting = new Map<number, () => void>()
  const watch = async (): Promise<void> => {
    for await (const message of env.activity()) {
      if (message.type === "run:fail") throw new Error(`A run failed: ${message.result}`)
      if (message.type !== "run:stop") continue
      const { flow }: { flow?: number } = JSON.parse(message.result)
      if (flow === undefined) continue
      waiting.get(flow)?.()
      waiting.delete(flow)
    }
  }
  void watch()
  return (n) => new Promise((resolve) => waiting.set(n, resolve))
}

const settingsOf = (url: string | undefined, variant: string | undefined): Readonly<Record<string, string>> => ({
  code: "embedded; user code in isolates, in two runner processes",
  durability: url === undefined ? "SQLite, WAL, synchronous=FULL" : "same as the PostgreSQL server; 10 connections",
  ...(variant === "jobs" ? { "in bulk": "`publishMany`, one call per batch" } : {}),
  ...(variant === "latency" ? { clock: "the guest's, in whole milliseconds; 0.5 ms is added" } : {})
})

await serve(async ({ url, variant }) => {
  const { env, close } = await startEmbedded(source, url)
  const type = variant === "latency" ? "timed" : "job"
  const events = new Map<number, string>()
  const ended = variant === "steps" ? watchFlows(env) : undefined
  const publish = async (n: number): Promise<void> => {
    events.set(n, (await env.events.publish({ type, data: makeJob(n) })).event_id)
  }
  const resultNow = async (n: number): Promise<unknown> => {
    const [run] = await env.events.runs(events.get(n) ?? "")
    return run?.status === "succeeded" ? run.result : undefined
  }
  return {
    settings: settingsOf(url, variant),
    publish,
    publishMany: async (first, count) => {
      const numbers = Array.from({ length: count }, (_, index) => first + index)
      const published = await env.events.publishMany(numbers.map((n) => ({ type, data: makeJob(n) })))
      for (const [index, { event_id }] of published.entries()) events.set(first + index, event_id)
    },
    finished: async () => {
      const { succeeded, failed } = await env.runs.stats()
      if (failed > 0) throw new Error(`${failed} runs failed`)
      return succeeded
    },
    result: resultNow,
    startedAt: async (n) => {
      for (let waitMs = settledMs; ; waitMs += 1) {
        await sleep(waitMs)
        const at = await resultNow(n)
        if (typeof at === "number") return at + 0.5
      }
    },
    ...(ended === undefined
      ? {}
      : {
          flow: async (n: number) => {
            const end = ended(n)
            await env.events.publish({ type: "first", data: { n } })
            await end
          }
        }),
    close
  }
})
