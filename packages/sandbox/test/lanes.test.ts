/** Runners of their own for builds that are under suspicion: few at once, in turn. */
import { assert, describe, it } from "@effect/vitest"
import { Lanes } from "../src/supervisor/Lanes.ts"
import { RunnerProcess } from "../src/supervisor/RunnerProcess.ts"

/** A place for every build that uses one, on real runner processes that are told nothing. */
const openLanes = () => {
  const started: Array<RunnerProcess> = []
  const busy = new Map<RunnerProcess, string>()
  const released: Array<RunnerProcess> = []
  const refused: Array<string> = []
  const nobody = { message: () => undefined, died: () => undefined }
  const lanes = new Lanes(1, {
    start: () => {
      const runner = new RunnerProcess(1024, nobody)
      started.push(runner)
      return runner
    },
    isIdle: (runner) => !busy.has(runner),
    release: (runner) => released.push(runner)
  })
  return {
    lanes,
    released,
    refused,
    busy: () => [...busy.values()].sort(),
    begin: (build: string) =>
      lanes.use(
        "solo",
        build,
        (runner) => busy.set(runner, build),
        (reason) => refused.push(reason)
      ),
    end: (build: string) => {
      for (const [runner, its] of busy) if (its === build) busy.delete(runner)
      lanes.vacated()
    },
    close: () => {
      lanes.close()
      for (const runner of started) runner.kill("the test is over")
    }
  }
}

describe("runners for one build each", () => {
  it("are four at once; whoever comes then waits for the first that is idle", () => {
    const { begin, end, busy, released, refused, close } = openLanes()
    try {
      for (const build of ["a", "b", "c", "d", "e", "f", "e"]) begin(build)
      assert.deepStrictEqual(busy(), ["a", "b", "c", "d"])
      end("b")
      assert.deepStrictEqual(busy(), ["a", "c", "d", "e"])
      assert.lengthOf(released, 1)
      end("a")
      assert.deepStrictEqual(busy(), ["c", "d", "e", "f"])
      // The place stays with its build while nobody else needs one.
      end("c")
      assert.lengthOf(released, 2)
      begin("g")
      assert.deepStrictEqual(busy(), ["d", "e", "f", "g"])
      assert.lengthOf(released, 3)
      assert.deepStrictEqual(refused, [])
    } finally {
      close()
    }
  })

  it("refuses those that wait when it ends", () => {
    const { begin, refused, close } = openLanes()
    for (const build of ["a", "b", "c", "d", "e"]) begin(build)
    close()
    assert.deepStrictEqual(refused, ["it is closed"])
  })
})
