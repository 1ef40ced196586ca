import * as fc from "fast-check"
import { expect, it } from "vitest"
import { type FromRunner, readFromRunner } from "../src/protocol/FromRunner.ts"
import { FrameSplitter, FrameWriter } from "../src/protocol/Wire.ts"
import { OutputQueue, runnerItself } from "../src/runner/OutputQueue.ts"

const sentBytes = 64 * 1024

const returned = (run: number, length: number): FromRunner => ({
  ...{ kind: "returned", run, output: "x".repeat(length), cpuMs: 1, heapBytes: 1 }
})

/** Returns the messages of each write until the queue is empty. */
const writeAll = (queue: OutputQueue): ReadonlyArray<ReadonlyArray<FromRunner>> => {
  const writer = new FrameWriter()
  const writes: Array<ReadonlyArray<FromRunner>> = []
  while (!queue.isEmpty) {
    const messages: Array<FromRunner> = []
    queue.write(writer, sentBytes)
    const splitter = new FrameSplitter(1024 * 1024)
    for (const buffer of writer.take()) splitter.push(buffer, (cursor) => messages.push(readFromRunner(cursor)))
    writes.push(messages)
  }
  return writes
}

const runsOf = (messages: ReadonlyArray<FromRunner>) =>
  messages.map((message) => ("run" in message ? message.run : null))

it("a small answer does not wait for the large results of another isolate", () => {
  const queue = new OutputQueue()
  for (let run = 1; run <= 50; run++) queue.push(1, returned(run, 300_000))
  queue.push(2, returned(99, 10))
  queue.push(runnerItself, { kind: "heartbeat", rssBytes: 1 })
  const [first, second, ...others] = writeAll(queue).map(runsOf)
  expect(first).toEqual([null, 1])
  expect(second).toEqual([99, 2])
  expect(others.flat()).toEqual(Array.from({ length: 48 }, (_, index) => index + 3))
})

it("small messages of a turn are one write", () => {
  const queue = new OutputQueue()
  for (let run = 1; run <= 200; run++) queue.push(run % 7, returned(run, 20))
  expect(writeAll(queue)).toHaveLength(1)
})

it("every message is written once, and those of an isolate in their order", () => {
  const message = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.constantFrom(1, 1_000, 20_000, 100_000))
  fc.assert(
    fc.property(fc.array(message, { maxLength: 60, size: "max" }), (pushed) => {
      const queue = new OutputQueue()
      for (const [run, [isolate, length]] of pushed.entries()) queue.push(isolate, returned(run, length))
      const written = writeAll(queue).flatMap(runsOf)
      expect([...written].sort((a, b) => Number(a) - Number(b))).toEqual([...pushed.keys()])
      for (const isolate of [0, 1, 2, 3]) {
        const own = written.filter((run) => pushed[Number(run)]?.[0] === isolate)
        expect(own).toEqual([...own].sort((a, b) => Number(a) - Number(b)))
      }
    }),
    { numRuns: 50 }
  )
})
