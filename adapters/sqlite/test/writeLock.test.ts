/** The lock of two threads that write to one database. */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { WriteLock } from "../src/WriteLock.ts"

const file = new URL("../src/WriteLock.ts", import.meta.url).href

/**
 * Script of a thread. On message 0 it acquires the lock, reports that, and releases it once `released` is set. On message
 * `n` it acquires and releases the lock `n` times.
 */
const journal = `
  import { parentPort, workerData } from "node:worker_threads"
  const { WriteLock } = await import(workerData.file)
  const lock = new WriteLock(workerData.lock)
  const released = new Int32Array(workerData.released)
  parentPort.on("message", (times) => {
    for (let left = times; left > 0; left--) {
      lock.acquire()
      // Varies the pace of the two threads.
      for (let idle = left % 1000; idle > 0; idle--) Atomics.load(released, 0)
      lock.release()
    }
    if (times > 0) return parentPort.postMessage("done")
    lock.acquire()
    parentPort.postMessage("acquired")
    Atomics.wait(released, 0, 0)
    Atomics.store(released, 0, 0)
    lock.release()
  })
  parentPort.postMessage("ready")`

const startJournal = Effect.fnUntraced(function* (lock: WriteLock) {
  const released = new Int32Array(new SharedArrayBuffer(4))
  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const workerData = { file, lock: lock.shared, released: released.buffer }
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
    acquire: Effect.promise(async () => {
      worker.postMessage(0)
      await once(worker, "message")
    }),
    acquireAndRelease: (times: number) =>
      Effect.promise(async () => {
        worker.postMessage(times)
        await once(worker, "message")
      }),
    release: Effect.sync(() => {
      Atomics.store(released, 0, 1)
      Atomics.notify(released, 0)
    })
  }
})

/** Acquires the lock in the main thread, logs `what`, and releases it. */
const write = (lock: WriteLock, log: Array<string>, what: string) =>
  Effect.scoped(
    Effect.andThen(
      lock.main,
      Effect.sync(() => void log.push(what))
    )
  )

describe("the write lock", () => {
  it.live("is granted in the order of requests, and does not block the main thread", () =>
    Effect.gen(function* () {
      const lock = new WriteLock()
      const other = yield* startJournal(lock)
      const log: Array<string> = []
      yield* write(lock, log, "free")
      for (let round = 0; round < 20; round++) {
        yield* other.acquire
        const first = yield* Effect.forkChild(write(lock, log, `${round} first`))
        const second = yield* Effect.forkChild(write(lock, log, `${round} second`))
        yield* Effect.sleep("1 millis")
        log.push(`${round} waits`)
        yield* other.release
        yield* Fiber.join(first)
        yield* Fiber.join(second)
      }
      const rounds = Array.from({ length: 20 }, (_, n) => [`${n} waits`, `${n} first`, `${n} second`])
      assert.deepStrictEqual(log, ["free", ...rounds.flat()])
    }).pipe(Effect.scoped)
  )

  it.live("is granted to both threads under contention", () =>
    Effect.gen(function* () {
      const lock = new WriteLock()
      const other = yield* startJournal(lock)
      const log: Array<string> = []
      const writer = Effect.forever(Effect.andThen(write(lock, log, "main"), Effect.yieldNow))
      yield* Effect.race(
        other.acquireAndRelease(50_000),
        Effect.all([writer, writer], { concurrency: 2, discard: true })
      )
      assert.isAbove(log.length, 100)
    }).pipe(Effect.scoped)
  )

  it.live("is passed on by a fiber that was interrupted while it waited", () =>
    Effect.gen(function* () {
      const lock = new WriteLock()
      const other = yield* startJournal(lock)
      const log: Array<string> = []
      yield* other.acquire
      const never = yield* Effect.forkChild(Effect.scoped(Effect.andThen(lock.main, Effect.never)))
      const waits = yield* Effect.forkChild(write(lock, log, "after"))
      yield* Effect.sleep("1 millis")
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(never))
      yield* other.release
      yield* Fiber.join(interrupted)
      yield* Fiber.join(waits)
      yield* other.acquire
      yield* other.release
      assert.deepStrictEqual(log, ["after"])
    }).pipe(Effect.scoped)
  )

  it.effect("is released when the thread that holds it or waits for it dies", () =>
    Effect.gen(function* () {
      const lock = new WriteLock()
      const log: Array<string> = []
      new WriteLock(lock.shared).acquire()
      yield* Effect.promise(() => lock.releaseJournal())
      yield* write(lock, log, "one")
      // The ticket is cleared. Otherwise it would be released twice.
      yield* Effect.promise(() => lock.releaseJournal())
      yield* write(lock, log, "two")
      assert.deepStrictEqual(log, ["one", "two"])
    })
  )
})
