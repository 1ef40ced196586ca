/** Cancellation of code that never yields: from the call until the run is stopped and the CPU is free again. */
import type { Suite } from "../Suite.ts"
import { startEmbedded } from "../targets/Embedded.ts"

const samples = 200

/** Delay before the cancel, in milliseconds: the loop runs, and its timeout has not expired. */
const spinMs = 30

const source = `
export const spins = () => { while (true); }
export const quick = () => "done"
`

const at = (values: ReadonlyArray<number>, share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN

export const cancel: Suite = {
  name: "cancel",
  isExtra: true,
  measures: `cancellation of while(true), ${samples} sequential runs, until another run of the build has ended`,
  open: async () => {
    const { env, close } = await startEmbedded(source)
    const once = async (): Promise<{ readonly answered: number; readonly free: number }> => {
      const { run } = await env.call({ fn: "main/spins" })
      if (run === null) throw new Error("The run was not started")
      await new Promise((resolve) => setTimeout(resolve, spinMs))
      const began = performance.now()
      const { status } = await env.runs.cancel(run.run_id)
      const answered = performance.now() - began
      const next = await env.call({ fn: "main/quick", wait: 10 })
      const free = performance.now() - began
      if (status !== "cancelled" || next.run?.status !== "succeeded")
        throw new Error(`The cancel returned ${status}, and the next run ${next.run?.status}`)
      return { answered, free }
    }
    const measure = async (): Promise<Readonly<Record<string, number>>> => {
      const taken = []
      for (let n = 0; n < samples; n++) taken.push(await once())
      const answered = taken.map((sample) => sample.answered)
      const free = taken.map((sample) => sample.free)
      return {
        "cancel responds: p50 ms": at(answered, 0.5),
        "cancel responds: p99 ms": at(answered, 0.99),
        "next run of the build done: p50 ms": at(free, 0.5),
        "next run of the build done: p99 ms": at(free, 0.99)
      }
    }
    return {
      contenders: [{ name: "weft", measure }],
      settings: { sqlite: "WAL, synchronous=FULL", loop: `${spinMs} ms before the cancel` },
      close
    }
  }
}
