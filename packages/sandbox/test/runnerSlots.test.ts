/** Solo runners for suspected builds: few at a time, in order of arrival. */
import { assert, describe, it } from "@effect/vitest"
import { RunnerProcess } from "../src/supervisor/RunnerProcess.ts"
import { RunnerSlots } from "../src/supervisor/RunnerSlots.ts"

/** Creates slots with real runner processes that receive no messages. */
const openSlots = () => {
  const started: Array<RunnerProcess> = []
  const busy = new Map<RunnerProcess, string>()
  const released: Array<RunnerProcess> = []
  const rejected: Array<string> = []
  const ignoring = { message: () => undefined, died: () => undefined }
  const slots = new RunnerSlots(1, {
    start: () => {
      const runner = new RunnerProcess(1024, ignoring)
      started.push(runner)
      return runner
    },
    isIdle: (runner) => !busy.has(runner),
    release: (runner) => released.push(runner)
  })
  return {
    slots,
    released,
    rejected,
    busy: () => [...busy.values()].sort(),
    begin: (build: string) =>
      slots.acquire(
        "solo",
        build,
        (runner) => busy.set(runner, build),
        (reason) => rejected.push(reason)
      ),
    end: (build: string) => {
      for (const [runner, its] of busy) if (its === build) busy.delete(runner)
      slots.runnerIdle()
    },
    close: () => {
      slots.close()
      for (const runner of started) runner.kill("the test has ended")
    }
  }
}

describe("solo runners", () => {
  it("are at most four; further builds wait for the first idle one", () => {
    const { begin, end, busy, released, rejected, close } = openSlots()
    try {
      for (const build of ["a", "b", "c", "d", "e", "f", "e"]) begin(build)
      assert.deepStrictEqual(busy(), ["a", "b", "c", "d"])
      end("b")
      assert.deepStrictEqual(busy(), ["a", "c", "d", "e"])
      assert.lengthOf(released, 1)
      end("a")
      assert.deepStrictEqual(busy(), ["c", "d", "e", "f"])
      // A slot stays with its build while no other build needs one.
      end("c")
      assert.lengthOf(released, 2)
      begin("g")
      assert.deepStrictEqual(busy(), ["d", "e", "f", "g"])
      assert.lengthOf(released, 3)
      assert.deepStrictEqual(rejected, [])
    } finally {
      close()
    }
  })

  it("reject waiting builds when the pool closes", () => {
    const { begin, rejected, close } = openSlots()
    for (const build of ["a", "b", "c", "d", "e"]) begin(build)
    close()
    assert.deepStrictEqual(rejected, ["it is closed"])
  })
})
