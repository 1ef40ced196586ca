/** The trend test finds planted leaks and reports no others. */
import { draws } from "@weft/tooling/draws"
import { describe, expect, it } from "vitest"
import { computeTrend, type Sample } from "../src/soak/Trend.ts"

/** Returns an hour of samples, one every 5 s. */
const hour = (value: (minute: number, index: number) => number): ReadonlyArray<Sample> =>
  Array.from({ length: 720 }, (_, index) => [index / 12, value(index / 12, index)])

/** Returns the memory of a process without a leak: it rises and falls back with each collection. */
const sawtooth = (seed: number) => {
  const random = draws(seed)
  return (minute: number): number => 300 + ((minute * 37) % 60) + random.next() * 20
}

const memory = { share: 0.08, least: 16 }
const few = { share: 0, least: 4 }

describe("A series with a leak", () => {
  it("of 1 MiB per minute is found below sawteeth of 60 MiB", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const noise = sawtooth(seed)
      const trend = computeTrend(
        hour((minute) => noise(minute) + minute),
        memory
      )
      expect(trend?.grows, `seed ${seed}`).toBe(true)
      expect(trend?.slope).toBeCloseTo(1, 0)
    }
  })

  it("of one descriptor every five minutes is found", () => {
    expect(
      computeTrend(
        hour((minute) => 60 + Math.floor(minute / 5)),
        few
      )
    ).toMatchObject({ grows: true })
  })

  it("that starts late is found", () => {
    const noise = sawtooth(7)
    const late = hour((minute) => noise(minute) + Math.max(0, minute - 25) * 3)
    expect(computeTrend(late, memory)?.grows).toBe(true)
  })
})

describe("A series without a leak", () => {
  it("is accepted with sawteeth and noise, for 20 seeds", () => {
    for (let seed = 1; seed <= 20; seed++)
      expect(computeTrend(hour(sawtooth(seed)), memory)?.grows, `${seed}`).toBe(false)
  })

  it("may fill its caches in the first quarter", () => {
    const noise = sawtooth(3)
    expect(
      computeTrend(
        hour((minute) => noise(minute) + Math.min(15, minute) * 20),
        memory
      )?.grows
    ).toBe(false)
  })

  it("may have outliers that are all late", () => {
    expect(
      computeTrend(
        hour((minute, index) => (minute > 45 && index % 9 === 0 ? 5_000 : 300)),
        memory
      )?.grows
    ).toBe(false)
  })

  it("may be constant", () => {
    expect(
      computeTrend(
        hour(() => 17),
        few
      )
    ).toMatchObject({ grows: false, growth: 0, certainty: 0 })
  })

  it("may grow within its tolerance, even significantly", () => {
    const trend = computeTrend(
      hour((minute) => 300 + minute / 4),
      memory
    )
    expect(trend).toMatchObject({ grows: false })
    expect(trend?.certainty).toBeGreaterThan(10)
    expect(trend?.growth).toBeCloseTo(11.2, 0)
  })
})

it("Too few samples have no trend", () => {
  expect(computeTrend(hour((minute) => minute).slice(0, 9), few)).toBeNull()
})
