import { assert, describe, it } from "@effect/vitest"
import { MemoryTrend } from "../src/supervisor/MemoryTrend.ts"
import { RunnerProcess } from "../src/supervisor/RunnerProcess.ts"
import { RunnerView } from "../src/supervisor/RunnerView.ts"

const MiB = 1024 * 1024

describe("the memory trend of a runner", () => {
  it("is growing after 32 MiB within two seconds", () => {
    const trend = new MemoryTrend()
    assert.isFalse(trend.isGrowing)
    trend.add(100 * MiB, 0)
    trend.add(131 * MiB, 1000)
    assert.isFalse(trend.isGrowing)
    trend.add(132 * MiB, 1500)
    assert.isTrue(trend.isGrowing)
    trend.add(132 * MiB, 3600)
    assert.isFalse(trend.isGrowing)
  })

  it("does not count memory that was released, or needed to load an isolate", () => {
    const trend = new MemoryTrend()
    trend.add(200 * MiB, 0)
    trend.add(100 * MiB, 50)
    assert.isFalse(trend.isGrowing)
    trend.restart()
    trend.add(200 * MiB, 100)
    trend.add(210 * MiB, 150)
    assert.isFalse(trend.isGrowing)
  })

  it("does not count memory that the runner needs to start", () => {
    const runner = new RunnerProcess(1024, { message: () => undefined, died: () => undefined })
    const view = new RunnerView(runner, { isolatesPerRunner: 10, budgetBytes: 1024 * MiB })
    view.updateMemory(2 * MiB, 0)
    view.updateMemory(55 * MiB, 50)
    assert.isFalse(view.memoryTrend.isGrowing)
    view.markBooted()
    view.updateMemory(60 * MiB, 100)
    assert.isFalse(view.memoryTrend.isGrowing)
    view.updateMemory(92 * MiB, 150)
    assert.isTrue(view.memoryTrend.isGrowing)
    runner.kill("the test has ended")
  })
})
