/** Two threads that write to one database, one at a time. */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { WriteTurn } from "../src/WriteTurn.ts"

const file = new URL("../src/WriteTurn.ts", import.meta.url).href

/** Runs in a thread: takes its turn when it is told, says so, and gives it back as soon as `released` is set. */
const journal = `
  import { parentPort, workerData } from "node:worker_threads"
  const { WriteTurn } = await import(workerData.file)
  const turn = new WriteTurn(workerData.turn)
  const released = new Int32Array(workerData.released)
  parentPort.on("message", (times) => {
    for (let left = times; left > 0; left--) {
      turn.begin()
      // Not always at the same pace as the other.
      for (let idle = left % 1000; idle > 0; idle--) Atomics.load(released, 0)
      turn.end()
    }
    if (times > 0) return parentPort.postMessage("done")
    turn.begin()
    parentPort.postMessage("has it")
    Atomics.wait(released, 0, 0)
    Atomics.store(released, 0, 0)
    turn.end()
  })
  parentPort.postMessage("ready")`

const startJournal = Effect.fnUntraced(function* (turn: WriteTurn) {
  const released = new Int32Array(new SharedArrayBuffer(4))
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const workerData = { file, turn: turn.shared, released: released.buffer }
      return new Worker(journal, {
        eval: true,
        workerData,
        execArgv: ["--conditions=weft-source", "--input-type=module"]
      })
    }),
    (started) => Effect.promise(() => started.terminate())
  )
  yield* Effect.promise(() => once(worker, "message"))
  return {
    take: Effect.promise(async () => {
      worker.postMessage(0)
      await once(worker, "message")
    }),
    takeAndGive: (times: number) =>
      Effect.promise(async () => {
        worker.postMessage(times)
        await once(worker, "message")
      }),
    give: Effect.sync(() => {
      Atomics.store(released, 0, 1)
      Atomics.notify(released, 0)
    })
  }
})

/** Takes the turn of the main thread, notes it, and gives it back. */
const write = (turn: WriteTurn, log: Array<string>, what: string) =>
  Effect.scoped(
    Effect.andThen(
      turn.main,
      Effect.sync(() => void log.push(what))
    )
  )

describe("the turn to write", () => {
  it.live("is waited for by the main thread while it goes on, in the order in which it was asked for", () =>
    Effect.gen(function* () {
      const turn = new WriteTurn()
      const other = yield* startJournal(turn)
      const log: Array<string> = []
      yield* write(turn, log, "free")
      for (let round = 0; round < 20; round++) {
        yield* other.take
        const first = yield* Effect.forkChild(write(turn, log, `${round} first`))
        const second = yield* Effect.forkChild(write(turn, log, `${round} second`))
        yield* Effect.sleep("1 millis")
        log.push(`${round} waits`)
        yield* other.give
        yield* Fiber.join(first)
        yield* Fiber.join(second)
      }
      const rounds = Array.from({ length: 20 }, (_, n) => [`${n} waits`, `${n} first`, `${n} second`])
      assert.deepStrictEqual(log, ["free", ...rounds.flat()])
    }).pipe(Effect.scoped)
  )

  it.live("comes to both, however often they meet", () =>
    Effect.gen(function* () {
      const turn = new WriteTurn()
      const other = yield* startJournal(turn)
      const log: Array<string> = []
      const writer = Effect.forever(Effect.andThen(write(turn, log, "main"), Effect.yieldNow))
      yield* Effect.race(other.takeAndGive(50_000), Effect.all([writer, writer], { concurrency: 2, discard: true }))
      assert.isAbove(log.length, 100)
    }).pipe(Effect.scoped)
  )

  it.live("is passed on by who was interrupted while it waited", () =>
    Effect.gen(function* () {
      const turn = new WriteTurn()
      const other = yield* startJournal(turn)
      const log: Array<string> = []
      yield* other.take
      const never = yield* Effect.forkChild(Effect.scoped(Effect.andThen(turn.main, Effect.never)))
      const waits = yield* Effect.forkChild(write(turn, log, "after"))
      yield* Effect.sleep("1 millis")
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(never))
      yield* other.give
      yield* Fiber.join(interrupted)
      yield* Fiber.join(waits)
      yield* other.take
      yield* other.give
      assert.deepStrictEqual(log, ["after"])
    }).pipe(Effect.scoped)
  )

  it.effect("is not kept by a thread that has died, whether it had it or waited for it", () =>
    Effect.gen(function* () {
      const turn = new WriteTurn()
      const log: Array<string> = []
      new WriteTurn(turn.shared).begin()
      yield* Effect.promise(() => turn.giveUpJournal())
      yield* write(turn, log, "one")
      // Nothing of it is left, or a turn would be passed on twice.
      yield* Effect.promise(() => turn.giveUpJournal())
      yield* write(turn, log, "two")
      assert.deepStrictEqual(log, ["one", "two"])
    })
  )
})
