/** Crashes at selected points in tests. */
import { expect } from "vitest"
import { type SweepOptions, sweep } from "../src/crash/Sweep.ts"

type Chosen = Pick<SweepOptions, "database" | "target"> & { readonly points: ReadonlyMap<string, string> }

/** Checks that a crash at these points loses nothing. Each point is mapped to an operation that passes it. */
export const expectNoLoss = async ({ database, target, points }: Chosen): Promise<void> => {
  const swept = await sweep({
    database,
    target,
    isEveryOperation: false,
    operations: [...new Set(points.values())],
    isWanted: (point) => points.has(point),
    progress: () => undefined
  })
  expect(swept.violations).toEqual([])
  expect(swept.missed).toEqual([])
  expect(swept.crashed).toBe(points.size)
  expect(swept.acknowledged).toBeGreaterThan(points.size)
}

/** Maps points to the operation that passes them. */
export const atCalls = (operation: string, points: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(points.map((point) => [point, operation]))
