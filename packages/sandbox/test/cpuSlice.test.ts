import { setTimeout as pause } from "node:timers/promises"
import { expect, it } from "vitest"
import { CpuSlice } from "../src/runner/CpuSlice.ts"

it("a slice that waits for a processor has not computed, however long it takes", async () => {
  const slice = new CpuSlice()
  slice.begin(0)
  expect(slice.hasComputed(0)).toBe(false)
  slice.watch(50, 1)
  await pause(100)
  slice.watch(150, 1)
  expect(slice.hasComputed(90)).toBe(false)
})

it("a slice that uses a processor has computed, until the next one begins", () => {
  const slice = new CpuSlice()
  slice.begin(0)
  slice.watch(5, 1)
  const { user } = process.cpuUsage()
  while (process.cpuUsage().user - user < 30_000);
  slice.watch(40, 1)
  expect(slice.hasComputed(20)).toBe(true)
  slice.watch(45, 2)
  expect(slice.hasComputed(20)).toBe(false)
})
