import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { type FromRunner, readFromRunner, writeFromRunner } from "../src/protocol/FromRunner.ts"
import { readToRunner, type ToRunner, writeToRunner } from "../src/protocol/ToRunner.ts"
import { FrameSplitter, FrameWriter, ProtocolError } from "../src/protocol/Wire.ts"
import { readOutput } from "../src/runner/OutputFrames.ts"

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const wellFormed = fc.string({ unit: "grapheme", maxLength: 200 })
const amount = fc.double({ min: 0, max: 1e12, noNaN: true })
const bytes = fc.uint8Array({ maxLength: 300 })
const usage = { run: u32, cpuMs: amount, heapBytes: amount }

const fromRunner: fc.Arbitrary<FromRunner> = fc.oneof(
  fc.record({ kind: fc.constant("heartbeat" as const), rssBytes: amount }),
  fc.record({ kind: fc.constant("loaded" as const), isolate: u32, exports: wellFormed, cache: bytes }),
  fc.record({ kind: fc.constant("returned" as const), output: wellFormed, ...usage }),
  fc.record({
    kind: fc.constant("responded" as const),
    status: u32,
    encoding: fc.constantFrom("json" as const, "text" as const, "base64" as const),
    headers: wellFormed,
    body: wellFormed,
    ...usage
  }),
  fc.record({
    kind: fc.constant("threw" as const),
    name: wellFormed,
    message: wellFormed,
    stack: wellFormed,
    isFinal: fc.boolean(),
    afterMs: fc.option(amount),
    ...usage
  }),
  fc.record({ kind: fc.constant("stopped" as const), ...usage }),
  fc.record({
    kind: fc.constant("runAge" as const),
    run: fc.nat(),
    ms: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })
  }),
  fc.record({ kind: fc.constant("call" as const), run: u32, call: u32, op: wellFormed, payload: wellFormed }),
  fc.record({
    kind: fc.constant("log" as const),
    run: u32,
    level: fc.constantFrom("debug" as const, "info" as const, "warn" as const, "error" as const),
    message: wellFormed,
    data: fc.option(wellFormed)
  }),
  fc.record({
    kind: fc.constant("lost" as const),
    isolate: u32,
    cause: fc.constantFrom("cpu" as const, "memory" as const, "stopped" as const),
    computing: u32,
    cpuMs: amount,
    heapBytes: amount
  })
)

const toRunner: fc.Arbitrary<ToRunner> = fc.oneof(
  fc.record({
    kind: fc.constant("load" as const),
    isolate: u32,
    owner: u32,
    describe: fc.boolean(),
    script: wellFormed,
    cache: bytes
  }),
  fc.record({
    kind: fc.constant("invoke" as const),
    isolate: u32,
    run: u32,
    trigger: fc.constantFrom("event" as const, "request" as const, "tick" as const, "args" as const),
    fn: wellFormed,
    svc: fc.oneof(wellFormed, fc.constant("é".repeat(100_000))),
    body: fc.option(
      fc.record({ text: wellFormed, as: fc.constantFrom("json" as const, "text" as const, "given" as const) })
    )
  }),
  fc.record({
    kind: fc.constant("hostCallResult" as const),
    isolate: u32,
    run: u32,
    call: u32,
    ok: fc.boolean(),
    text: wellFormed,
    detail: wellFormed
  })
)

const frameBytesMax = 1024 * 1024

/** Reads a stream of bytes that arrives in chunks of the given sizes, which repeat. */
const receive = <A>(
  stream: Buffer,
  pieces: ReadonlyArray<number>,
  read: (cursor: Parameters<typeof readFromRunner>[0]) => A
): Array<A> => {
  const splitter = new FrameSplitter(frameBytesMax)
  const received: Array<A> = []
  for (let at = 0, piece = 0; at < stream.length; piece++) {
    const size = pieces[piece % pieces.length] ?? 1
    splitter.push(stream.subarray(at, at + size), (cursor) => received.push(read(cursor)))
    at += size
  }
  return received
}

const pieceSizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 })

describe("the protocol", () => {
  it("transfers all messages, for any chunks of the stream", () => {
    fc.assert(
      fc.property(fc.array(fromRunner, { maxLength: 30 }), pieceSizes, (messages, pieces) => {
        const writer = new FrameWriter()
        for (const message of messages) writeFromRunner(writer, message)
        assert.deepStrictEqual(receive(Buffer.concat(writer.take()), pieces, readFromRunner), messages)
      })
    )
    fc.assert(
      fc.property(fc.array(toRunner, { maxLength: 10 }), pieceSizes, (messages, pieces) => {
        const writer = new FrameWriter()
        for (const message of messages) writeToRunner(writer, message)
        assert.deepStrictEqual(receive(Buffer.concat(writer.take()), pieces, readToRunner), messages)
      })
    )
  })

  it("stops after a number of frames, and continues with the rest of the chunk", () => {
    fc.assert(
      fc.property(
        fc.array(fromRunner, { maxLength: 30 }),
        pieceSizes,
        fc.integer({ min: 1, max: 5 }),
        (messages, pieces, framesMax) => {
          const writer = new FrameWriter()
          for (const message of messages) writeFromRunner(writer, message)
          const stream = Buffer.concat(writer.take())
          const splitter = new FrameSplitter(frameBytesMax)
          const received: Array<FromRunner> = []
          for (let at = 0, piece = 0; at < stream.length; piece++) {
            const size = pieces[piece % pieces.length] ?? 1
            let rest: Buffer | undefined = stream.subarray(at, at + size)
            while (rest !== undefined) {
              const before = received.length
              rest = splitter.push(rest, (cursor) => received.push(readFromRunner(cursor)), framesMax)
              assert.isAtMost(received.length - before, framesMax)
            }
            at += size
          }
          assert.deepStrictEqual(received, messages)
        }
      )
    )
  })

  it("reads only messages from random bytes, and fails only with ProtocolError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (noise) => {
        const frame = Buffer.alloc(4 + noise.length)
        frame.writeUInt32LE(noise.length)
        frame.set(noise, 4)
        try {
          receive(frame, [frame.length], readFromRunner)
        } catch (error) {
          assert.instanceOf(error, ProtocolError)
        }
      })
    )
  })

  it("rejects frames that are too long, empty, longer or shorter than their fields", () => {
    const tooLong = Buffer.alloc(4)
    tooLong.writeUInt32LE(frameBytesMax + 1)
    assert.throws(() => receive(tooLong, [4], readFromRunner), ProtocolError)
    assert.throws(() => receive(Buffer.alloc(4), [4], readFromRunner), ProtocolError)
    const writer = new FrameWriter()
    writeFromRunner(writer, { kind: "idle", isolate: 1 })
    const idleFrame = Buffer.concat(writer.take())
    const longer = Buffer.concat([idleFrame, Buffer.from([0])])
    longer.writeUInt32LE(idleFrame.length - 4 + 1)
    assert.throws(() => receive(longer, [longer.length], readFromRunner), ProtocolError)
    const shorter = Buffer.from(idleFrame.subarray(0, -1))
    shorter.writeUInt32LE(idleFrame.length - 4 - 1)
    assert.throws(() => receive(shorter, [shorter.length], readFromRunner), ProtocolError)
  })

  it("parses output whose texts look like frames", () => {
    const forged = "R1,0,0,2,0:{}"
    const text = `L1,1,0,${forged.length},0:${forged}R1,0,0,4,0:null`
    assert.deepStrictEqual(
      readOutput(text).map(({ letter, first }) => [letter, first]),
      [
        ["L", forged],
        ["R", "null"]
      ]
    )
    for (const broken of ["R1", "R1,0,0,5,0:null", "Rx,0,0,0,0:", "R1,0,0,99999999999,0:", "R1,0,0,-1,0:"]) {
      assert.throws(() => readOutput(broken))
    }
  })
})
