/** Schedules on the real server across a kill and a restart: each tick fires once, and missed ticks fire as one. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-schedules-"))

const source = `
const on = (meta, fn) => Object.assign(fn, { meta })

export const every = on({ schedule: "* * * * * *" }, (tick, svc) => ({ tick, same: svc.tick === tick, type: svc.run.run_type }))
`

let server: ServerProcess
beforeAll(async () => {
  server = await startServer(dataDir)
  await server.upload("shop", source)
}, 60_000)
afterAll(async () => {
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
}, 60_000)

const Run = z.object({ run_type: z.string(), status: z.string(), event_id: z.string(), result: z.unknown() })
const Runs = z.object({ data: z.array(Run) })
const Tick = z.object({ schedule_id: z.string(), scheduled_time: z.string(), cron: z.string().nullable() })
const Ticked = z.object({ tick: Tick.strict(), same: z.literal(true), type: z.literal("schedule") })
const Schedules = z.object({ data: z.array(z.object({ schedule_id: z.string(), cron: z.string() })) })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until `read` returns a value. */
const eventually = async <A>(read: () => Promise<A | undefined>): Promise<A> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error("No value within 1 minute")
    await pause(100)
  }
}

const ended = async (): Promise<ReadonlyArray<z.infer<typeof Run>>> =>
  Runs.parse(await server.call("GET", "/v1/runs?type=schedule&limit=100")).data.filter(
    (run) => run.status !== "running"
  )

/** Returns the ticks of `every` that have run, as instants in ascending order. */
const ticks = async (): Promise<ReadonlyArray<number>> =>
  (await ended())
    .flatMap((run) => {
      const ticked = Ticked.safeParse(run.result)
      return ticked.success ? [Date.parse(ticked.data.tick.scheduled_time)] : []
    })
    .sort((a, b) => a - b)

const scheduleIds = async () =>
  Schedules.parse(await server.call("GET", "/v1/projects/shop/schedules")).data.map((one) => one.schedule_id)

describe("a schedule of every second", () => {
  it("fires once per second, also across a kill and a restart of the server", async () => {
    const ids = await scheduleIds()
    await eventually(async () => ((await ticks()).length >= 3 ? true : undefined))
    await server.kill()
    await pause(2500)
    server = await startServer(dataDir)
    const before = (await ticks()).length
    await eventually(async () => ((await ticks()).length >= before + 3 ? true : undefined))
    await server.stop()
    const stopped = Date.now()
    await pause(2500)
    const started = Date.now()
    server = await startServer(dataDir)
    await eventually(async () => ((await ticks()).some((tick) => tick > started + 2000) ? true : undefined))

    const all = await ticks()
    expect(all.every((tick) => tick % 1000 === 0)).toBe(true)
    expect(new Set(all).size).toBe(all.length)
    // During the outage at most the last missed tick fires.
    expect(all.filter((tick) => tick > stopped + 1000 && tick < started - 1000)).toEqual([])
    expect(await scheduleIds()).toEqual(ids)
    expect((await ended()).every((run) => run.run_type === "schedule")).toBe(true)
  })
})
