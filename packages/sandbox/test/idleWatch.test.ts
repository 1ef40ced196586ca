import { expect, it } from "vitest"
import { IdleWatch } from "../src/runner/IdleWatch.ts"

const watchFrom = (isolateMs: number): IdleWatch => {
  const watch = new IdleWatch()
  watch.begin(isolateMs)
  return watch
}

it("an isolate that continues to compute while it is idle is detected", () => {
  const watch = watchFrom(1000)
  expect([1100, 1200, 1300, 1400].map((ms) => watch.isComputing(ms, ms))).toEqual([false, false, false, true])
})

it("one long collection of garbage is not computing", () => {
  const watch = watchFrom(1000)
  expect([1000, 1400, 1400, 1400].map((ms, turn) => watch.isComputing(ms, turn * 100))).toEqual(Array(4).fill(false))
})

it("time in the isolate without a processor is not computing", () => {
  const watch = watchFrom(0)
  expect([300, 600, 900].map((ms) => watch.isComputing(ms, ms / 10))).toEqual([false, false, false])
})

it("an entry begins a new time of idleness", () => {
  const watch = watchFrom(0)
  expect(watch.isComputing(200, 200)).toBe(false)
  watch.begin(250)
  expect([399, 400, 550].map((ms) => watch.isComputing(ms, ms))).toEqual([false, false, false])
})
