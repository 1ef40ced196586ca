/** Compares the test kit for durable functions with the runtime: the same functions have the same histories and ends. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Event } from "../../src/index.ts"
import { type DurableEventFunction, type DurableKit, testDurable } from "../../src/testing/index.ts"
import { bundleOf } from "../bundle.ts"
import { startDurableRuntime } from "./DurableRuntime.ts"
import {
  awaiting,
  bounded,
  changing,
  failing,
  fan,
  retried,
  shorter,
  stalled,
  steps,
  strict,
  undone,
  unstorable,
  versions,
  waits,
  wrong
} from "./durables.ts"

const functions = {
  ...{ awaiting, bounded, changing, fan, failing, retried },
  ...{ shorter, stalled, steps, strict, undone, unstorable, versions, wrong }
}

let runtime: Awaited<ReturnType<typeof startDurableRuntime>>

beforeAll(async () => {
  runtime = await startDurableRuntime(await bundleOf(`export * from "./durable/durables.ts"`))
}, 60_000)
afterAll(() => runtime.close())

type Seen = Awaited<ReturnType<typeof runtime.seen>>

/** Selects the fields that both report. Locations and stacks of errors differ. */
const reported = (kit: DurableKit<unknown>) => ({
  status: kit.status,
  logs: kit.logs.map(({ message }) => message),
  history: kit.history().map(({ started_at: _, ended_at: __, ...entry }) => entry)
})

const toReported = ({ status, logs, history }: Seen) => ({
  status,
  logs,
  history: history.map(({ ok, result, ...entry }) => {
    if (!ok) return { ...entry, error: { name: result.name, message: result.message } }
    return result === undefined ? entry : { ...entry, result }
  })
})

/** Runs a function of the comparison. They ignore their event's data. */
const runKit = async (name: keyof typeof functions, run_id: string): Promise<DurableKit<unknown>> => {
  const fn: DurableEventFunction<Event, unknown> = functions[name]
  const kit = testDurable(fn, { event: { type: name, data: null }, ...options(run_id) })
  await kit.run()
  return kit
}

const options = (run_id: string) => ({ run: { run_id }, context: { KEY: "secret" }, functions })

describe("a durable function in the test kit", { timeout: 60_000 }, () => {
  it.each([
    ...["steps", "retried", "unstorable", "wrong", "fan", "bounded", "undone", "failing"],
    ...["versions", "strict"]
  ] as const)("has the history, the log and the result of the runtime: %s", async (name) => {
    const seen = await runtime.seen(await runtime.publish(name, null))
    const kit = await runKit(name, seen.run_id)
    expect(reported(kit)).toEqual(toReported(seen))
    if (seen.status === "succeeded") expect(kit.result).toEqual(seen.result)
    else expect(kit.error).toMatchObject({ name: seen.result.error.name, message: seen.result.error.message })
  })

  it("receives the events that the runtime gives it", async () => {
    const id = await runtime.publish("waits", 7)
    const kit = testDurable(waits, { event: { data: 7 } })
    await runtime.reach(id, "event")
    for (const data of [
      { order: { id: 8 }, amount: 1 },
      { order: { id: 7 }, amount: 2 }
    ]) {
      await runtime.publish("paid", data)
      await kit.events.publish({ type: "paid", data })
    }
    const seen = await runtime.seen(id)
    await kit.advance("20ms")
    expect(kit).toMatchObject({ status: seen.status, result: seen.result })
    expect(kit.history().map(({ seq, kind, name }) => [seq, kind, name])).toEqual(
      seen.history.map(({ seq, kind, name }) => [seq, kind, name])
    )
  })

  it.each(["changing", "shorter", "awaiting", "stalled"] as const)(
    "fails with the error of the runtime: %s",
    async (name) => {
      const seen = await runtime.seen(await runtime.publish(name, null))
      const kit = await runKit(name, seen.run_id)
      expect([kit.status, kit.error?.name]).toEqual([seen.status, seen.result.error?.name])
      // The kit adds the line of the request.
      expect(kit.error?.message.replace(/ \([^)]*\)$/, "")).toBe(seen.result.error?.message)
    }
  )
})
