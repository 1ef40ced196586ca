/** What judges a soak finds a leak that somebody planted, and takes nothing else for one. */

import { draws } from "@weft/tooling/draws"
import { describe, expect, it } from "vitest"
import { type Sample, trendOf } from "../src/soak/Trend.ts"

/** An hour, every five seconds. */
const hour = (value: (minute: number, index: number) => number): ReadonlyArray<Sample> =>
  Array.from({ length: 720 }, (_, index) => [index / 12, value(index / 12, index)])

/** Memory as it is: it goes up, and falls when it is collected, to where it was. */
const sawtooth = (seed: number) => {
  const random = draws(seed)
  return (minute: number): number => 300 + ((minute * 37) % 60) + random.next() * 20
}

const memory = { share: 0.08, least: 16 }
const few = { share: 0, least: 4 }

describe("a series with a leak", () => {
  it("is told by a megabyte a minute, below sawteeth of sixty", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const noise = sawtooth(seed)
      const trend = trendOf(
        hour((minute) => noise(minute) + minute),
        memory
      )
      expect(trend?.grows, `seed ${seed}`).toBe(true)
      expect(trend?.slope).toBeCloseTo(1, 0)
    }
  })

  it("is told by a descriptor every five minutes", () => {
    expect(
      trendOf(
        hour((minute) => 60 + Math.floor(minute / 5)),
        few
      )
    ).toMatchObject({ grows: true })
  })

  it("is told where it begins late", () => {
    const noise = sawtooth(7)
    const late = hour((minute) => noise(minute) + Math.max(0, minute - 25) * 3)
    expect(trendOf(late, memory)?.grows).toBe(true)
  })
})

describe("a series without a leak", () => {
  it("is none with sawteeth and noise, whatever the seed", () => {
    for (let seed = 1; seed <= 20; seed++) expect(trendOf(hour(sawtooth(seed)), memory)?.grows, `${seed}`).toBe(false)
  })

  it("may fill its caches in the first quarter", () => {
    const noise = sawtooth(3)
    expect(
      trendOf(
        hour((minute) => noise(minute) + Math.min(15, minute) * 20),
        memory
      )?.grows
    ).toBe(false)
  })

  it("may have outliers, though all of them are late", () => {
    expect(
      trendOf(
        hour((minute, index) => (minute > 45 && index % 9 === 0 ? 5_000 : 300)),
        memory
      )?.grows
    ).toBe(false)
  })

  it("may stay the same", () => {
    expect(
      trendOf(
        hour(() => 17),
        few
      )
    ).toMatchObject({ grows: false, growth: 0, certainty: 0 })
  })

  it("may grow within its tolerance, however certain that is", () => {
    const trend = trendOf(
      hour((minute) => 300 + minute / 4),
      memory
    )
    expect(trend).toMatchObject({ grows: false })
    expect(trend?.certainty).toBeGreaterThan(10)
    expect(trend?.growth).toBeCloseTo(11.2, 0)
  })
})

it("does not judge what is too short", () => {
  expect(trendOf(hour((minute) => minute).slice(0, 9), few)).toBeNull()
})
