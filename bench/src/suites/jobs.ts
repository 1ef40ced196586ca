/** Events published one by one, each handled by user code, each run stored with its result. */

import type { Suite } from "../Suite.ts"
import { type Embedded, startEmbedded } from "../targets/Embedded.ts"
import { rawSqlite } from "../targets/rawSqlite.ts"

const publishers = 32
const events = 20_000

const source = `
export const onJob = (event) => ({ done: event.event_data.n })
onJob.meta = { event: "job" }
`

const payload = "x".repeat(900)

/** Publishes `events` events from `publishers` loops and waits until every run has ended. */
const publishAll = async ({ env }: Embedded, events: number): Promise<Readonly<Record<string, number>>> => {
  const before = await env.runs.stats()
  const began = performance.now()
  let next = 0
  const publisher = async (): Promise<void> => {
    while (next < events) await env.events.publish({ type: "job", data: { n: next++, payload } })
  }
  await Promise.all(Array.from({ length: publishers }, publisher))
  const published = performance.now()
  for (;;) {
    const stats = await env.runs.stats()
    if (stats.failed > before.failed) throw new Error("A run failed")
    if (stats.succeeded - before.succeeded === events) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const finished = performance.now()
  return {
    "published per second": events / ((published - began) / 1000),
    "finished per second": events / ((finished - began) / 1000)
  }
}

export const jobs: Suite = {
  name: "jobs",
  measures: `${events} events of 1 KB published one by one by ${publishers} publishers, until every run has its result stored`,
  open: async () => {
    const weft = await startEmbedded(source)
    await publishAll(weft, events)
    return {
      contenders: [
        { name: "raw SQLite, groups of 100", isLimit: true, measure: () => rawSqlite(events, payload) },
        { name: "weft", measure: () => publishAll(weft, events) }
      ],
      settings: {
        sqlite: "WAL, synchronous=FULL for both",
        weft: "embedded in the benchmark's process, one runner per core; as many events before the first round"
      },
      close: weft.close
    }
  }
}
