/** Fuzz targets for schedules: cron expressions, and texts of dynamic schedules with their time zones. */
import { type Draws, type Target, textOf, utf8 } from "@weft/tooling/fuzz"
import { Result } from "effect"
import { assert } from "vitest"
import { cronFault } from "../../src/foundation/time/Cron.ts"
import { parseDuration } from "../../src/foundation/time/Duration.ts"
import { readTicks } from "../../src/foundation/time/Ticks.ts"
import { parseInstant, Timestamp } from "../../src/foundation/time/Timestamp.ts"
import { readTiming } from "../../src/resources/schedules/Timing.ts"
import { cronModel } from "./CronModel.ts"

const minuteMs = 60_000
/** Range of the model, in minutes. */
const walkMax = 3 * 24 * 60

const part = (draws: Draws, least: number, most: number): string => {
  const one = () => String(draws.whole(least, most))
  const base = draws.one(["*", one(), `${one()}-${one()}`, one(), "*"])
  return draws.chance(0.25) ? `${base}/${draws.whole(1, 20)}` : base
}

const list = (draws: Draws, least: number, most: number): string =>
  draws.some(() => part(draws, least, most), draws.one([1, 1, 1, 3]), 1).join(",")

const cron = (draws: Draws): string => {
  const date = draws.chance(0.1) ? draws.one(["L", "15W", "LW", "?", "31", "29", "30", "L-3"]) : list(draws, 1, 31)
  const month = draws.chance(0.1) ? draws.one(["JAN", "feb", "2", "2-4", "DEC-JAN", "JAN,JUN"]) : list(draws, 1, 12)
  const day = draws.chance(0.2)
    ? draws.one(["MON", "1#2", "5L", "sun", "7", "0-7", "FRI-MON", "?", "1#6", "H"])
    : list(draws, 0, 7)
  const fields = [
    list(draws, 0, 59),
    list(draws, 0, 23),
    date,
    draws.chance(0.5) ? "*" : month,
    draws.chance(0.6) ? "*" : day
  ]
  return (draws.chance(0.3) ? [list(draws, 0, 59), ...fields] : fields).join(draws.chance(0.95) ? " " : "\t ")
}

const words = [
  "*",
  "/",
  "-",
  ",",
  "L",
  "W",
  "#",
  "?",
  "H",
  "@daily",
  "0",
  "59",
  "60",
  "31",
  "MON",
  "JAN",
  "99999999999",
  " * ",
  "1-5/2"
]

/** Starts near leap days and the ends of months and years. */
const starts = [
  "2024-02-28T23:58:59.999Z",
  "2025-12-31T23:59:00.000Z",
  "2026-06-15T12:00:30.500Z",
  "2028-02-29T00:00:00.000Z"
]

export const crons: Target = {
  name: "cron",
  generate: (draws) => utf8(cron(draws)),
  words,
  covers: /cron-parser/,
  limitMs: 1000,
  bytesMax: 256,
  run: (input) => {
    const expression = textOf(input)
    const model = cronModel(expression)
    const fault = cronFault(expression)
    if (fault !== null) {
      assert.isNotEmpty(fault)
      return "refused"
    }
    const next = readTicks(expression, "UTC")
    checkTicks(next, model, Date.parse(starts[expression.length % starts.length] ?? ""))
    return "taken"
  }
}

const checkTicks = (next: ReturnType<typeof readTicks>, model: ReturnType<typeof cronModel>, from: number): void => {
  const first = next(Timestamp.make(from))
  if (first === null) return
  assert.isAbove(first, from)
  assert.strictEqual(first % 1000, 0)
  const second = next(first)
  if (second !== null) assert.isAbove(second, first)
  if (model === null) return
  for (const [after, tick] of [
    [from, first],
    [first, second]
  ] as const) {
    const expected = walk(model, after)
    if (expected !== null)
      assert.strictEqual(tick === null ? null : new Date(tick).toISOString(), new Date(expected).toISOString())
    else if (tick !== null)
      assert.isAtLeast(tick, after + (walkMax - 1) * minuteMs, "it fires although nothing matches")
  }
}

/** Searches minute by minute for the first match after `after`. Returns null beyond the range. */
const walk = ({ seconds, matches }: NonNullable<ReturnType<typeof cronModel>>, after: number): number | null => {
  const begin = Math.floor(after / minuteMs) * minuteMs
  for (let minute = begin; minute < begin + walkMax * minuteMs; minute += minuteMs) {
    if (!matches(new Date(minute))) continue
    const second = seconds.find((value) => minute + value * 1000 > after)
    if (second !== undefined) return minute + second * 1000
  }
  return null
}

const zones = ["UTC", "Europe/Oslo", "Australia/Lord_Howe", "America/St_Johns", "Etc/GMT+12", "", "Mars/Base", "+05:30"]
const now = Timestamp.make(Date.parse("2026-03-29T00:59:59.500Z"))
const tenYearsMs = 3652 * 24 * 3_600_000

const makeDuration = (draws: Draws): string =>
  draws.one([
    () => `${draws.whole(0, 100_000)}${draws.one(["ms", "s", "m", "h", "d", "w", ""])}`,
    () =>
      `P${draws.whole(0, 99)}${draws.one(["Y", "M", "W", "D"])}${draws.chance(0.5) ? `T${draws.whole(0, 99)}${draws.one(["H", "M", "S"])}` : ""}`,
    () => `PT${draws.whole(0, 9)}.${draws.whole(0, 999)}S`
  ])()

const makeInstant = (draws: Draws): string =>
  `20${draws.whole(10, 99)}-0${draws.whole(0, 9)}-${draws.whole(10, 39)}T${draws.whole(10, 29)}:${draws.whole(10, 60)}${draws.one(["", ":30", ":30.123"])}${draws.one(["Z", "+01:00", "-99:99", ""])}`

export const schedules: Target = {
  name: "schedules",
  generate: (draws) => utf8(`${draws.one([cron, makeDuration, makeInstant])(draws)}\n${draws.one(zones)}`),
  words: [...words, "P", "T", "1e3", "PT", "P1Y2M3W4DT5H6M7.8S", "2026-02-30T00:00Z", "Z", "+14:00", "\n", "GMT"],
  covers: /cron-parser/,
  limitMs: 1000,
  bytesMax: 512,
  run: (input) => {
    const [schedule = "", zone = "UTC"] = textOf(input).split("\n")
    const timing = readTiming(schedule, zone, now)
    if (Result.isFailure(timing)) {
      assert.isNotEmpty(timing.failure)
      return "refused"
    }
    const { cron: expression, timezone, next_at } = timing.success
    assert.isTrue(Number.isSafeInteger(next_at))
    if (expression === null) {
      assert.isTrue(next_at >= now - 1 && next_at <= now + tenYearsMs + 1, "a single time in the past or too far ahead")
      checkOnce(schedule, next_at)
    } else {
      assert.strictEqual(expression, schedule)
      assert.strictEqual(timezone, zone)
      assert.isAbove(next_at, now)
    }
    return "taken"
  }
}

/** Checks a single time, a duration or an instant, with parsers that are independent of the product's. */
const checkOnce = (schedule: string, nextAt: number): void => {
  const instant = parseInstant(schedule)
  if (instant !== null) {
    assert.strictEqual(nextAt, Date.parse(schedule))
    return
  }
  const millis = parseDuration(schedule)
  assert.isNotNull(millis)
  assert.closeTo(nextAt - now, durationByHand(schedule), 1)
}

const factors: Readonly<Record<string, number>> = {
  Y: 365 * 86_400_000,
  W: 7 * 86_400_000,
  D: 86_400_000,
  H: 3_600_000,
  S: 1000
}
const shortFactors: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const durationByHand = (text: string): number => {
  if (!text.startsWith("P")) {
    const unit = text.replace(/^[\d.]+/, "")
    return Number(text.slice(0, text.length - unit.length)) * (shortFactors[unit] ?? Number.NaN)
  }
  let sum = 0
  let isTime = false
  for (const [, mark = ""] of text.slice(1).matchAll(/(T|[\d.]+[A-Z])/g)) {
    const unit = mark.at(-1) ?? ""
    if (mark === "T") isTime = true
    else
      sum +=
        Number(mark.slice(0, -1)) * (unit === "M" ? (isTime ? 60_000 : 30 * 86_400_000) : (factors[unit] ?? Number.NaN))
  }
  return sum
}
