/** Messages of a runner, valid and invalid, to the parser of frames and to the whole supervisor. */
import type { Draws, Target } from "@weft/tooling/fuzz"
import { assert } from "vitest"
import {
  encodings,
  type FromRunner,
  loadFailures,
  logLevels,
  lossCauses,
  readFromRunner,
  writeFromRunner
} from "../../src/protocol/FromRunner.ts"
import { FrameSplitter, FrameWriter, ProtocolError } from "../../src/protocol/Wire.ts"
import { marks } from "./Marks.ts"
import { type CallRecord, limits, type TestSupervisor } from "./TestSupervisor.ts"

const numbers = [...Object.values(marks).map((mark) => mark.readUInt32LE(0)), 0, 1, 2, 0xffffffff]
const texts = [
  "",
  "null",
  "{}",
  "[1]",
  '"x"',
  '{"a":"b"}',
  '{"set-cookie":["a","b"]}',
  "events.publish",
  "__proto__",
  "aGk=",
  "é\u0000\u2028"
]
const amounts = [0, 1, 1.5, 1e6, 1e308, 5e-324]

const message = (draws: Draws): FromRunner => {
  const [run, isolate, call] = [draws.one(numbers), draws.one(numbers), draws.one(numbers)]
  const [a, b, c] = [draws.one(texts), draws.one(texts), draws.one(texts)]
  const [cpuMs, heapBytes] = [draws.one(amounts), draws.one(amounts)]
  const usage = { run, cpuMs, heapBytes }
  const retry = { isFinal: draws.one([false, true]), afterMs: draws.one([null, ...amounts]) }
  const cache = draws.bytes(draws.one([0, 0, 20]))
  return draws.one<() => FromRunner>([
    () => ({ kind: "ready", cache: new Uint8Array(cache) }),
    () => ({ kind: "heartbeat", rssBytes: cpuMs }),
    () => ({ kind: "loaded", isolate, exports: a, cache: new Uint8Array(cache) }),
    () => ({ kind: "loadFailed", isolate, failure: draws.one(loadFailures), name: a, message: b, stack: c }),
    () => ({ kind: "returned", output: a, ...usage }),
    () => ({
      kind: "responded",
      status: draws.one([200, 99, 599, 600]),
      encoding: draws.one(encodings),
      headers: a,
      body: b,
      ...usage
    }),
    () => ({ kind: "threw", name: a, message: b, stack: c, ...retry, ...usage }),
    () => ({ kind: "exceeded", limit: a, message: b, ...usage }),
    () => ({ kind: "stopped", ...usage }),
    () => ({ kind: "runAge", run, ms: cpuMs }),
    () => ({ kind: "call", run, call, op: a, payload: b }),
    () => ({ kind: "log", run, level: draws.one(logLevels), message: a, data: draws.one([null, b]) }),
    () => ({ kind: "lost", isolate, cause: draws.one(lossCauses), computing: run, cpuMs, heapBytes }),
    () => ({ kind: "busy", isolate, run }),
    () => ({ kind: "idle", isolate }),
    () => ({ kind: "draining", isolate }),
    () => ({ kind: "unresponsive", isolate })
  ])()
}

const stream = (draws: Draws, most: number): Buffer => {
  const writer = new FrameWriter()
  for (const one of draws.some(() => message(draws), most, 1)) writeFromRunner(writer, one)
  return Buffer.concat(writer.take())
}

const words = [...Object.values(marks), Buffer.from([1, 0, 0, 0, 14]), Buffer.from([0xff, 0xff, 0x7f, 0]), ...texts]
const frameBytesMax = 1 << 20

interface Received {
  readonly messages: ReadonlyArray<FromRunner>
  readonly error: string | null
}

const receive = (bytes: Buffer, piece: number): Received => {
  const splitter = new FrameSplitter(frameBytesMax)
  const messages: Array<FromRunner> = []
  try {
    for (let at = 0; at < bytes.length; at += piece) {
      splitter.push(bytes.subarray(at, at + piece), (cursor) => messages.push(readFromRunner(cursor)))
    }
    return { messages, error: null }
  } catch (error) {
    assert.instanceOf(error, ProtocolError)
    return { messages, error: error.message }
  }
}

export const frames: Target = {
  name: "frames",
  generate: (draws) => stream(draws, 6),
  words,
  limitMs: 500,
  run: (input) => {
    const bytes = Buffer.from(input)
    const whole = receive(bytes, Math.max(1, bytes.length))
    for (const piece of [1, 3, 7, 64]) assert.deepStrictEqual(receive(bytes, piece), whole)
    // The written form equals the input, except for bytes that are not text.
    const writer = new FrameWriter()
    for (const one of whole.messages) writeFromRunner(writer, one)
    const again = Buffer.concat(writer.take())
    assert.deepStrictEqual(receive(again, again.length + 1).messages, whole.messages)
    if (!again.includes("\ufffd") && !whole.messages.some(({ kind }) => kind === "log")) {
      assert.isTrue(bytes.subarray(0, again.length).equals(again))
    }
    return whole.error === null && whole.messages.length > 0 ? "taken" : "refused"
  }
}

const writer = new FrameWriter()
writeFromRunner(writer, { kind: "log", run: marks.run.readUInt32LE(0), level: "info", message: "", data: null })
const line = Buffer.concat(writer.take())

/** A runner sends each input without a request. Occasionally another build is called, which must return. */
export const hostileRunner = (world: () => TestSupervisor): Target => {
  let said = 0
  return {
    name: "hostile-runner",
    generate: (draws) => stream(draws, 5),
    words,
    bytesMax: 16 * 1024,
    limitMs: 20_000,
    isGuided: false,
    run: async (input) => {
      const { call, pool } = world()
      const neighbour = said++ % 5 === 0 ? call("good") : null
      // A log line prevents a retry of the run, which most inputs do not need.
      const seen = input.length % 4 === 0 ? Buffer.alloc(0) : line
      const record = await call(`say:${Buffer.concat([seen, input]).toString("base64")}`, "null", 500)
      const verdict = checkRecord(record)
      for (const { busy, isolates, jobs } of pool.views.values())
        assert.isTrue(busy.size <= isolates.size && jobs.size <= 50)
      if (neighbour !== null) checkNeighbour(await neighbour)
      return verdict
    }
  }
}

const checkRecord = ({ execution, logs, calls }: CallRecord): "taken" | "refused" => {
  if (typeof execution === "string") return assert.fail(`no runner executes the job: ${execution}`)
  const { outcome, usage } = execution
  assert.isTrue(usage.cpu_ms >= 0 && usage.cpu_ms <= usage.wall_ms, "more processor time than elapsed time")
  assert.isTrue(Number.isSafeInteger(usage.heap_bytes) && usage.heap_bytes <= 2 * limits.heapBytes)
  assert.isBelow(JSON.stringify(outcome).length, 2 * limits.resultBytes + 200_000)
  if (outcome._tag === "Returned") JSON.parse(outcome.output)
  assert.isAtMost(
    logs.reduce((sum, { message: text }) => sum + text.length, 0),
    limits.logBytes + 256
  )
  for (const { op, payload } of calls) assert.isTrue(op.length <= 256 && payload.length <= limits.hostCallBytes)
  return outcome._tag === "RunnerLost" ? "refused" : "taken"
}

/** Asserts the neighbour's own result, or the loss of its runner, and no output of another run. */
const checkNeighbour = ({ execution, logs, calls }: CallRecord): void => {
  assert.deepStrictEqual([logs, calls], [[], []], "output of another run")
  const outcome = typeof execution === "string" ? null : execution.outcome
  const isOwn = outcome?._tag === "Returned" ? outcome.output === '"pong"' : outcome?._tag === "RunnerLost"
  assert.isTrue(isOwn, `the neighbour got ${JSON.stringify(outcome)}`)
}
