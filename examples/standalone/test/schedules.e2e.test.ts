/** Schedules on the real server, over a kill, a stop and a restart: every tick once, and those in between as one. */
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
export const told = (...args) => args
export const begin = on({ event: "begin" }, async (event, svc) => {
  const kept = await svc.schedules.create({ fn: "main/told", args: ["kept", { n: 1 }], schedule: "* * * * * *" })
  const gone = await svc.schedules.create({ fn: "main/told", args: ["gone"], schedule: "PT1H" })
  await svc.schedules.cancel({ id: gone.schedule_id })
  return kept
})
export const end = on({ event: "end" }, (event, svc) => svc.schedules.cancel({ fn: "main/told" }))
export const wrong = on({ event: "wrong" }, async (event, svc) => {
  try {
    await svc.schedules.create({ fn: "main/told", schedule: "whenever" })
  } catch (error) {
    return error.name + ": " + error.message
  }
})
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
const Published = z.object({ data: z.object({ event_id: z.string() }) })
const Schedules = z.object({ data: z.array(z.object({ schedule_id: z.string(), cron: z.string() })) })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until `read` gives something. */
const eventually = async <A>(read: () => Promise<A | undefined>): Promise<A> => {
  const deadline = performance.now() + 60_000
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error("It did not happen within a minute")
    await pause(100)
  }
}

const ended = async (): Promise<ReadonlyArray<z.infer<typeof Run>>> =>
  Runs.parse(await server.call("GET", "/v1/runs?type=schedule&limit=100")).data.filter(
    (run) => run.status !== "running"
  )

/** The ticks of `every` that have run, as instants, the first first. */
const ticks = async (): Promise<ReadonlyArray<number>> =>
  (await ended())
    .flatMap((run) => {
      const ticked = Ticked.safeParse(run.result)
      return ticked.success ? [Date.parse(ticked.data.tick.scheduled_time)] : []
    })
    .sort((a, b) => a - b)

const resultOf = async (event_type: string): Promise<unknown> => {
  const { event_id } = Published.parse(await server.call("POST", "/v1/events", { event_type, event_data: null })).data
  return eventually(async () => {
    const [run] = Runs.parse(await server.call("GET", `/v1/events/${event_id}/runs`)).data
    return run?.status === "succeeded" ? run.result : undefined
  })
}

const scheduleIds = async () =>
  Schedules.parse(await server.call("GET", "/v1/projects/shop/schedules")).data.map((one) => one.schedule_id)

describe("a schedule of every second", () => {
  it("fires at each second once, also where the server was killed or stopped in between", async () => {
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
    // The one that was missed last, if the stop came before it.
    expect(all.filter((tick) => tick > stopped + 1000 && tick < started - 1000)).toEqual([])
    expect(await scheduleIds()).toEqual(ids)
    expect((await ended()).every((run) => run.run_type === "schedule")).toBe(true)
  })
})

describe("svc.schedules in the sandbox", () => {
  it("creates schedules that call functions with their arguments, and cancels them", async () => {
    z.object({ schedule_id: z.uuid() }).parse(await resultOf("begin"))
    const kept = await eventually(async () => {
      const found = (await ended()).map((run) => run.result).filter(Array.isArray)
      return found.length >= 2 ? found : undefined
    })
    for (const args of kept) expect(args).toEqual(["kept", { n: 1 }])
    expect(await resultOf("wrong")).toContain("BadRequest: event_data.schedule must be a cron expression")
    await resultOf("end")
    await expect(
      server.call("POST", "/v1/events", { event_type: "svc:schedule:cancel", event_data: { fn: "main/told" } })
    ).rejects.toThrow("there is no such schedule")
  })
})
