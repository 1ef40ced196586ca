/** Compares ticks with those of another implementation, croner, which has the same rule for clock changes. */
import { assert, describe, it } from "@effect/vitest"
import { Cron } from "croner"
import { readTicks } from "../../../src/foundation/time/Ticks.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"

const zones = [
  "UTC",
  "Europe/Oslo",
  "Europe/London",
  "America/New_York",
  "America/St_Johns",
  "America/Sao_Paulo",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Pacific/Apia",
  "Antarctica/Troll"
]

/** Single and multiple times of day, affected and unaffected by clock changes. */
const times = [
  ...["0 0", "30 0", "0 1", "30 1", "59 1", "0 2", "15 2", "30 2", "45 2", "0 3", "30 3", "0 12", "59 23"],
  ...[
    "0,30 1",
    "30 1,2",
    "30 1,2,3",
    "15 1-3",
    "45 2-3",
    "0 0-5/2",
    "0 */6",
    "20 */5",
    "*/30 2",
    "10 30 2",
    "*/30 59 1"
  ]
]
const days = ["1 * *", "L * *", "29 2 *", "31 * *", "25-31 3,10 *", "1-9 3,4,11 *", "* * 0", "* * 5L"]
const daily = ["30 1 * * *", "30 2 * * *", "0 3 * * 1-5", "45 2-3 * * *", "0 */6 * * *"]

/** Many times an hour: only around clock changes, because the comparison would take minutes otherwise. */
const dense = ["*/15 * 1-9 4,11 *", "*/7 */5 25-31 3,10 *", "0 * 25-31 3,4,9,10 *", "*/20 59 1-3 30 3,10 *"]

const all = [...times.flatMap((time) => days.map((day) => `${time} ${day}`)), ...daily, ...dense]

/**
 * Returns the expressions to compare in a zone: another twelfth in each zone, so that each is compared in at least one.
 * Set `WEFT_TEST_ALL_TICKS=1` to compare all expressions in all zones, which takes minutes.
 */
const selectExpressions = (zone: string): ReadonlyArray<string> =>
  process.env.WEFT_TEST_ALL_TICKS === "1"
    ? all
    : all.filter((_, index) => index % 12 === zones.indexOf(zone) % 12 || dense.length + index >= all.length)

const from = Timestamp.make(Date.parse("2025-01-01T00:00:00Z"))
const to = Date.parse("2027-01-01T00:00:00Z")

describe("ticks", () => {
  it("are compared for at least 200 expressions", () => {
    assert.isAtLeast(all.length, 200)
  })

  for (const zone of zones) {
    it(`in ${zone} are equal to those of croner, for two years`, { timeout: 120_000 }, () => {
      for (const expression of selectExpressions(zone)) {
        const theirs = new Cron(expression, { timezone: zone })
        const ours = readTicks(expression, zone)
        for (let tick: Timestamp | null = from; tick !== null && tick < to; ) {
          const expected: number | undefined = theirs.nextRun(new Date(tick))?.getTime()
          const next: Timestamp | null = ours(tick)
          assert.strictEqual(next, expected ?? null, `${expression} after ${new Date(tick).toISOString()}`)
          tick = next
        }
      }
    })
  }
})
