/**
 * A compromised runner. It executes no code: a build's script names what it does when it is called.
 *
 * - `good` replies as a real runner. `say:BASE64` sends any bytes and then ends the run.
 * - `deaf` makes more and more host calls and reads no results. `slow` reads nothing for 300 ms, and then continues.
 * - `waits` replies after 400 ms, unless another run in this process said something by then.
 * - `busy`, `calls` and `heartbeats` repeat one message.
 * - For the exports of a build, `exports:LENGTH` sends a text of that length, and `fails:LENGTH` such an error.
 */
import { Socket } from "node:net"
import { type FromRunner, writeFromRunner } from "../../src/protocol/FromRunner.ts"
import { readToRunner, type ToRunner } from "../../src/protocol/ToRunner.ts"
import { FrameSplitter, FrameWriter } from "../../src/protocol/Wire.ts"
import { marks } from "./Marks.ts"

const socket = new Socket({ fd: 3, readable: true, writable: true })
const scripts = new Map<number, string>()
const endedRuns = new Set<number>()
// A paused socket does not keep the process alive.
setInterval(() => undefined, 60_000)
const floodMs = 1500
const slowMs = 300
const waitMs = 400
let hasSaid = false
const usage = { cpuMs: 1, heapBytes: 1000 }

const framesOf = (messages: ReadonlyArray<FromRunner>): Buffer => {
  const writer = new FrameWriter()
  for (const message of messages) writeFromRunner(writer, message)
  return Buffer.concat(writer.take())
}

const say = (...messages: ReadonlyArray<FromRunner>): void => void socket.write(framesOf(messages))

/** Replaces the marks in the bytes by ids that only the runner knows. */
const withNumbers = (bytes: Buffer, run: number, isolate: number): Buffer => {
  for (const [mark, value] of [
    [marks.run, run],
    [marks.isolate, isolate],
    [marks.otherRun, run + 1],
    [marks.otherIsolate, isolate + 1]
  ] as const) {
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 4)) bytes.writeUInt32LE(value, at)
  }
  return bytes
}

const ended = (run: number): FromRunner => ({ kind: "returned", run, output: '"said"', ...usage })

/** Repeats a message for `floodMs`, as fast as it is read. */
const flood = (messages: Buffer, run: number): void => {
  const until = performance.now() + floodMs
  const more = (): void => {
    if (performance.now() > until) say(ended(run))
    else socket.write(messages, more)
  }
  more()
}

const many = (make: (n: number) => FromRunner): Buffer => framesOf(Array.from({ length: 5000 }, (_, n) => make(n)))

const invoke = ({ isolate, run }: Extract<ToRunner, { readonly kind: "invoke" }>): void => {
  const script = scripts.get(isolate) ?? ""
  const said = /say:([A-Za-z0-9+/=]*)/.exec(script)?.[1]
  if (said !== undefined) {
    hasSaid = true
    socket.write(withNumbers(Buffer.from(said, "base64"), run, isolate))
    say(ended(run))
  } else if (script.includes("deaf")) {
    socket.pause()
    // It makes a new call for each unread result: the supervisor sees the number of pending calls.
    const ask = (call: number): void =>
      void socket.write(framesOf([{ kind: "call", run, call, op: "x", payload: "null" }]), () =>
        setImmediate(ask, call + 1)
      )
    ask(1)
  } else if (script.includes("waits")) {
    setTimeout(() => !hasSaid && say(ended(run)), waitMs)
  } else if (script.includes("slow")) {
    socket.pause()
    setTimeout(() => socket.resume(), slowMs)
    endedRuns.add(run)
    say(ended(run))
  } else if (script.includes("busy")) {
    let first = 0
    const until = performance.now() + floodMs
    const more = (): void => {
      first += 5000
      if (performance.now() > until) say(ended(run))
      else
        socket.write(
          many((n) => ({ kind: "busy", isolate: first + n, run })),
          more
        )
    }
    more()
  } else if (script.includes("heartbeats"))
    flood(
      many(() => ({ kind: "heartbeat", rssBytes: 1 })),
      run
    )
  else if (script.includes("calls"))
    flood(
      many((n) => ({ kind: "call", run: run + n, call: n, op: "x", payload: "" })),
      run
    )
  else say({ kind: "returned", run, output: '"pong"', ...usage })
}

const load = ({ isolate, script, describe }: Extract<ToRunner, { readonly kind: "load" }>): void => {
  scripts.set(isolate, script)
  if (!describe) return
  const text = "[],".repeat(Number(/\d+/.exec(script)?.[0]) / 3)
  if (script.includes("exports")) say({ kind: "loaded", isolate, exports: text, cache: new Uint8Array(0) })
  else say({ kind: "loadFailed", isolate, failure: "threw", name: "BadMeta", message: text, stack: "" })
}

const handle = (message: ToRunner): void => {
  if (message.kind === "boot") say({ kind: "ready", cache: new Uint8Array(0) })
  if (message.kind === "load") load(message)
  if (message.kind === "invoke") invoke(message)
  // After an incomplete frame it cannot confirm the stop. A run that has ended needs none.
  if (message.kind === "stop" && !endedRuns.has(message.run)) process.exit()
}

const splitter = new FrameSplitter(2 ** 30)
socket.on("data", (chunk: Buffer) => splitter.push(chunk, (cursor) => handle(readToRunner(cursor))))
socket.on("error", () => process.exit())
socket.on("close", () => process.exit())
setInterval(() => say({ kind: "heartbeat", rssBytes: 1 }), 100)
