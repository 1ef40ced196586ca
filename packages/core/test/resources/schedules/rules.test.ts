/** Rules of schedules, without a store or a clock. */
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import {
  type Manifest,
  mergeStaticSchedules,
  noRetry,
  ProjectId,
  type Schedule,
  type ScheduleEntry,
  ScheduleId,
  Timestamp
} from "@weft/core/adapter"
import { Result } from "effect"
import fc from "fast-check"
import { cronFault } from "../../../src/foundation/time/Cron.ts"
import { readTicks } from "../../../src/foundation/time/Ticks.ts"
import { parseInstant } from "../../../src/foundation/time/Timestamp.ts"
import { dueTick } from "../../../src/resources/schedules/DueTick.ts"
import { readTiming } from "../../../src/resources/schedules/Timing.ts"
import { upcomingTicks } from "../../../src/resources/schedules/UpcomingTicks.ts"

const start = Date.UTC(2026, 2, 28, 12)
const hour = 3_600_000
const day = 24 * hour

const after = (millis: number): Timestamp => Timestamp.make(start + millis)

/** Expressions with regular, frequent and rare ticks, across a change to daylight-saving time. */
const crons = fc.constantFrom(
  ...["* * * * *", "*/7 * * * *", "30 2 * * *", "0 3 * * 0", "*/10 0-5 3 * * *", "15 10-20/3 * * * *", "0 0 1 * *"]
)
const zones = fc.constantFrom("UTC", "Europe/Oslo", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu")

const ticksBetween = (cron: string, timezone: string, from: Timestamp, to: Timestamp): ReadonlyArray<Timestamp> => {
  const next = readTicks(cron, timezone)
  const ticks: Array<Timestamp> = []
  for (let tick = next(from); tick !== null && tick <= to; tick = next(tick)) ticks.push(tick)
  return ticks
}

describe("the upcoming ticks of a schedule", () => {
  const of = (cron: string | null, next_at: Timestamp): Schedule => ({
    ...{ schedule_id: ScheduleId.make("01890000-0000-7000-8000-000000000001"), kind: "dynamic", ns: "main", var: "f" },
    ...{ env_id: EnvId.make("01890000-0000-7000-8000-000000000002"), args: null, timezone: "UTC", depth: 0 },
    ...{ project_id: ProjectId.make("01890000-0000-7000-8000-000000000003"), created_at: after(0) },
    ...{ cron, next_at, due_at: next_at }
  })

  it("are those until the end of the period, the next one first", () => {
    const { ticks, more } = upcomingTicks(of("0 3 * * *", after(15 * hour)), after(3 * day))
    assert.deepStrictEqual([ticks, more], [[after(15 * hour), after(39 * hour), after(63 * hour)], false])
    assert.deepStrictEqual(upcomingTicks(of("0 3 * * *", after(4 * day)), after(3 * day)).ticks, [])
  })

  it("is one for a schedule that fires once", () => {
    const { ticks, more } = upcomingTicks(of(null, after(hour)), after(day))
    assert.deepStrictEqual([ticks, more], [[after(hour)], false])
  })

  it("are at most 50, with a mark that there are more", () => {
    const { ticks, more } = upcomingTicks(of("* * * * *", after(60_000)), after(day))
    assert.deepStrictEqual([ticks.length, more], [50, true])
  })
})

describe("a due schedule", () => {
  it("fires its latest tick, unless that was missed by an hour, and continues with the first tick after now", () => {
    fc.assert(
      fc.property(
        crons,
        zones,
        fc.integer({ min: 0, max: day }),
        fc.oneof(fc.integer({ min: 0, max: 2 * hour }), fc.integer({ min: 0, max: 3 * day })),
        (cron, timezone, since, late) => {
          const next_at = readTicks(cron, timezone)(after(since))
          assert.isNotNull(next_at)
          const now = Timestamp.make(next_at + late)
          const latest = ticksBetween(cron, timezone, next_at, now).at(-1) ?? next_at
          const { fires, next_at: next } = dueTick({ cron, timezone, next_at, due_at: next_at }, now)
          assert.strictEqual(fires, late >= hour && now - latest >= hour ? null : latest)
          assert.strictEqual(next, readTicks(cron, timezone)(now))
          assert.isTrue(next === null || next > now)
        }
      ),
      { numRuns: 300 }
    )
  })

  it("fires no tick twice, and skips at most one per outage of the node", () => {
    fc.assert(
      fc.property(
        crons,
        zones,
        fc.array(fc.integer({ min: 1, max: 5 * hour }), { maxLength: 20 }),
        (cron, zone, naps) => {
          const first = readTicks(cron, zone)(after(0))
          assert.isNotNull(first)
          let next: Timestamp = first
          let now: number = start
          const fired: Array<Timestamp> = []
          for (const nap of naps) {
            now += nap
            if (next > now) continue
            const tick = dueTick({ cron, timezone: zone, next_at: next, due_at: next }, Timestamp.make(now))
            if (tick.fires !== null) fired.push(tick.fires)
            assert.isNotNull(tick.next_at)
            next = tick.next_at
          }
          assert.deepStrictEqual(
            fired,
            [...new Set(fired)].sort((a, b) => a - b)
          )
          const all = new Set(ticksBetween(cron, zone, after(0), Timestamp.make(now)))
          assert.isTrue(fired.every((tick) => all.has(tick)))
          assert.isAtMost(fired.length, naps.length)
        }
      ),
      { numRuns: 200 }
    )
  })

  it("fires a deferred tick of any age", () => {
    const once = { cron: null, timezone: "UTC", next_at: after(0) }
    assert.deepStrictEqual(dueTick({ ...once, due_at: after(9 * day) }, after(9 * day + 5)), {
      fires: after(0),
      next_at: null
    })
    assert.deepStrictEqual(dueTick({ ...once, due_at: after(0) }, after(hour)), { fires: null, next_at: null })
    assert.deepStrictEqual(dueTick({ ...once, due_at: after(0) }, after(hour - 1)), { fires: after(0), next_at: null })
    const daily = { cron: "0 13 * * *", timezone: "UTC", next_at: after(hour) }
    assert.deepStrictEqual(dueTick({ ...daily, due_at: after(3 * day) }, after(3 * day)), {
      fires: after(2 * day + hour),
      next_at: after(3 * day + hour)
    })
  })

  it("computes a year of ticks every second quickly", () => {
    const every = { cron: "* * * * * *", timezone: "UTC", next_at: after(0), due_at: after(0) }
    assert.deepStrictEqual(dueTick(every, after(365 * day + 1)), {
      fires: after(365 * day),
      next_at: after(365 * day + 1000)
    })
  })
})

describe("the schedules of a new deployment", () => {
  const envId = EnvId.make("01976a2b-0002-7000-8000-000000000001")
  const projectId = ProjectId.make("01976a2b-0004-7000-8000-000000000001")
  const idOf = (n: number): ScheduleId => ScheduleId.make(`01976a2b-0011-7000-8000-${String(n).padStart(12, "0")}`)
  const build = { env_id: envId, project_id: projectId }

  let fresh = 0
  const entry = (name: string, cron: string): ScheduleEntry => ({
    ...{ schedule_id: idOf(++fresh), ns: "main", var: name, cron, timezone: "UTC" },
    ...{ retry: noRetry, timeout_ms: 1000, concurrency: null, idempotency: null, durable: false }
  })
  const manifestOf = (schedules: ReadonlyArray<ScheduleEntry>): Manifest => ({
    ...{ functions: [], handlers: [], endpoints: [], tools: [], resources: [], prompts: [] },
    schedules
  })
  const entries = fc.array(
    fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("* * * * *", "0 * * * *", "5 4 * * *")),
    { maxLength: 8 }
  )
  const counts = (schedules: ReadonlyArray<Pick<Schedule, "var" | "cron">>) =>
    [...Map.groupBy(schedules, (one) => `${one.var} ${one.cron}`)].map(([key, all]) => `${key} ${all.length}`).sort()

  it("are those of its manifest, and keep unchanged ones", () => {
    fc.assert(
      fc.property(entries, entries, (old, young) => {
        const before = mergeStaticSchedules([], build, manifestOf(old.map((one) => entry(...one))), after(0)).schedules
        const declared = manifestOf(young.map((one) => entry(...one)))
        const { manifest, schedules } = mergeStaticSchedules(before, build, declared, after(10 * hour))
        assert.deepStrictEqual(
          counts(schedules),
          counts(declared.schedules.map(({ var: name, cron }) => ({ var: name, cron })))
        )
        assert.deepStrictEqual(
          manifest.schedules.map((one) => one.schedule_id),
          schedules.map((one) => one.schedule_id)
        )
        assert.strictEqual(new Set(schedules.map((one) => one.schedule_id)).size, schedules.length)
        for (const one of before) {
          const same = before.filter((other) => other.var === one.var && other.cron === one.cron)
          const kept = same.filter((other) => schedules.includes(other)).length
          const wanted = young.filter(([name, cron]) => name === one.var && cron === one.cron).length
          assert.strictEqual(kept, Math.min(same.length, wanted))
        }
        for (const one of schedules.filter((other) => !before.includes(other)))
          assert.isAbove(one.next_at, after(10 * hour))
      })
    )
  })
})

describe("the schedule field of a dynamic schedule", () => {
  const read = (schedule: string, timezone = "UTC") => Result.getOrNull(readTiming(schedule, timezone, after(0)))

  it("is a cron expression, a timestamp or a duration", () => {
    assert.deepStrictEqual(read("0 13 * * *"), { cron: "0 13 * * *", timezone: "UTC", next_at: after(hour) })
    assert.strictEqual(read("0 14 * * *", "Europe/Oslo")?.next_at, after(hour))
    assert.deepStrictEqual(read("2026-03-28T12:00:00Z"), { cron: null, timezone: "UTC", next_at: after(0) })
    assert.strictEqual(read("2026-03-28T14:30:00.25+01:30")?.next_at, after(hour + 250))
    assert.strictEqual(read("P1DT1H")?.next_at, after(day + hour))
    assert.strictEqual(read("90s")?.next_at, after(90_000))
    for (const wrong of [
      "2026-03-28T11:59:59.999Z",
      "2026-02-29T12:00:00Z",
      "2026-03-28",
      "P",
      "-PT1H",
      "1 2 3",
      "x"
    ]) {
      assert.isNull(read(wrong), wrong)
    }
  })

  it("is either parsed or rejected, for any text", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (schedule, timezone) => {
        const timing = read(schedule, timezone)
        assert.isTrue(timing === null || timing.next_at >= start)
      })
    )
  })

  it("keeps the instant of a timestamp", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(Date.UTC(9999, 0)), noInvalidDate: true }), (date) => {
        assert.strictEqual(parseInstant(date.toISOString()), date.getTime())
      })
    )
  })
})

describe("the check that an expression fires", () => {
  it("is correct in a zone whose clocks change by half an hour", () => {
    for (const cron of ["15 2 * * *", "*/10 * * * * *", "45 1,2 * 4,10 0", "0 2 1-7 10 *"]) {
      assert.isNull(cronFault(cron))
      assert.isNotNull(readTiming(cron, "Australia/Lord_Howe", after(0)))
      const next = readTicks(cron, "Australia/Lord_Howe")(after(0))
      assert.isTrue(next !== null && next > start)
    }
    assert.strictEqual(cronFault("0 0 31 2 *"), "is not a cron expression that can fire")
  })
})
