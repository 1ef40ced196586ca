/** An idle system: from the call of `publish` to the first line of the handler. */

import type { Suite } from "../Suite.ts"
import { startEmbedded } from "../targets/Embedded.ts"

const samples = 300

const source = `
export const onPing = () => Date.now()
onPing.meta = { event: "ping" }
`

export const latency: Suite = {
  name: "latency",
  measures: `publish → user code starts, idle, ${samples} events one after the other`,
  open: async () => {
    const { env, close } = await startEmbedded(source)
    const once = async (): Promise<{ readonly start: number; readonly published: number }> => {
      const sent = performance.timeOrigin + performance.now()
      const event = await env.events.publish({ type: "ping", data: null })
      const published = performance.timeOrigin + performance.now() - sent
      for (;;) {
        const [run] = await env.events.runs(event.event_id)
        // The guest's clock counts whole milliseconds: half of one is the expected error.
        if (typeof run?.result === "number") return { start: run.result + 0.5 - sent, published }
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const measure = async (): Promise<Readonly<Record<string, number>>> => {
      const taken = []
      for (let n = 0; n < samples; n++) taken.push(await once())
      const at = (values: ReadonlyArray<number>, share: number): number =>
        [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
      const starts = taken.map(({ start }) => start)
      const published = taken.map((sample) => sample.published)
      return {
        "publish resolves: p50 ms": at(published, 0.5),
        "handler starts: p50 ms": at(starts, 0.5),
        "handler starts: p99 ms": at(starts, 0.99)
      }
    }
    return {
      contenders: [{ name: "weft", measure }],
      settings: { sqlite: "WAL, synchronous=FULL", clock: "the guest's clock has a resolution of 1 ms" },
      close
    }
  }
}
