/**
 * Messages from a runner to the supervisor.
 *
 * The runner holds hostile code, which may have compromised it. `readFromRunner` accepts only exact shapes, and the
 * supervisor validates ids, sizes, header names and JSON before it acts.
 */
import { member } from "./ToRunner.ts"
import { type Cursor, type FrameWriter, ProtocolError } from "./Wire.ts"

export const logLevels = ["debug", "info", "warn", "error"] as const
export const encodings = ["json", "text", "base64"] as const

/** Maximum length of a response's headers as JSON text, in characters. The kernel enforces the same limit. */
export const headersLengthMax = 65_536

/** Maximum length of a text of an error, in characters. The kernel truncates names, messages and stacks far below. */
export const errorLengthMax = 65_536

/** Maximum delay before the next attempt, in milliseconds: 365 days. The kernel enforces the same limit. */
export const retryDelayMaxMs = 365 * 24 * 3_600_000

/** Reasons for which a runner ends an isolate. */
export const lossCauses = ["cpu", "memory", "stopped", "background", "broken"] as const
export type LossCause = (typeof lossCauses)[number]

/** Ways in which a bundle fails to load. */
export const loadFailures = ["threw", "timeout", "memory"] as const
export type LoadFailure = (typeof loadFailures)[number]

interface Ended {
  readonly run: number
  /** Time in the isolate, in milliseconds. */
  readonly cpuMs: number
  /** The latest sample of the heap, in bytes. */
  readonly heapBytes: number
}

export type FromRunner =
  /** Reply to `boot`. `cache` is the code cache of the guest script; empty if `boot` contained one. */
  | { readonly kind: "ready"; readonly cache: Uint8Array<ArrayBuffer> }
  | { readonly kind: "heartbeat"; readonly rssBytes: number }
  /** `exports` is JSON text; empty unless `load` had `describe`. */
  | {
      readonly kind: "loaded"
      readonly isolate: number
      readonly exports: string
      readonly cache: Uint8Array<ArrayBuffer>
    }
  | {
      readonly kind: "loadFailed"
      readonly isolate: number
      readonly failure: LoadFailure
      readonly name: string
      readonly message: string
      readonly stack: string
    }
  | ({ readonly kind: "returned"; readonly output: string } & Ended)
  | ({
      readonly kind: "responded"
      readonly status: number
      readonly encoding: (typeof encodings)[number]
      /** JSON text of a record of strings. */
      readonly headers: string
      readonly body: string
    } & Ended)
  | ({
      readonly kind: "threw"
      readonly name: string
      readonly message: string
      readonly stack: string
      /** True if the error allows no further attempt. */
      readonly isFinal: boolean
      /** Delay before the next attempt in milliseconds, from the error. */
      readonly afterMs: number | null
    } & Ended)
  | ({ readonly kind: "exceeded"; readonly limit: string; readonly message: string } & Ended)
  /** Reply to `stop`: the run has ended. */
  | ({ readonly kind: "stopped" } & Ended)
  /** Reply to `reportAge`: time since the run entered its isolate, in milliseconds; 0 while it is queued. */
  | { readonly kind: "runAge"; readonly run: number; readonly ms: number }
  | {
      readonly kind: "call"
      readonly run: number
      readonly call: number
      readonly op: string
      readonly payload: string
    }
  | {
      readonly kind: "log"
      readonly run: number
      readonly level: (typeof logLevels)[number]
      readonly message: string
      readonly data: string | null
    }
  /** The isolate has ended. `computing` is the run that was computing, for `cpuMs` so far, or 0. */
  | {
      readonly kind: "lost"
      readonly isolate: number
      readonly cause: LossCause
      readonly computing: number
      readonly cpuMs: number
      readonly heapBytes: number
    }
  /** An entry takes long; `run` is computing. Until `idle`, or the end of the isolate. */
  | { readonly kind: "busy"; readonly isolate: number; readonly run: number }
  | { readonly kind: "idle"; readonly isolate: number }
  /** The isolate holds much memory, possibly garbage: new runs should use a new isolate. */
  | { readonly kind: "draining"; readonly isolate: number }
  /** A thread of an isolate that was `lost` before cannot be stopped: the runner must be killed. */
  | { readonly kind: "unresponsive"; readonly isolate: number }

const kinds = {
  ready: 1,
  heartbeat: 2,
  loaded: 3,
  loadFailed: 4,
  returned: 5,
  responded: 6,
  threw: 7,
  exceeded: 8,
  stopped: 9,
  call: 10,
  log: 11,
  lost: 12,
  busy: 13,
  idle: 14,
  unresponsive: 15,
  draining: 16,
  runAge: 17
} as const

export const writeFromRunner = (writer: FrameWriter, message: FromRunner): void => {
  writer.begin(kinds[message.kind])
  switch (message.kind) {
    case "ready":
      writer.bytes(message.cache)
      break
    case "heartbeat":
      writer.f64(message.rssBytes)
      break
    case "call":
      writer.u32(message.run)
      writer.u32(message.call)
      writer.text(message.op)
      writer.text(message.payload)
      break
    case "log":
      writer.u32(message.run)
      writer.u8(logLevels.indexOf(message.level))
      writer.u8(message.data === null ? 0 : 1)
      writer.text(message.message)
      writer.text(message.data ?? "")
      break
    case "runAge":
      writer.u32(message.run)
      writer.f64(message.ms)
      break
    case "returned":
    case "responded":
    case "threw":
    case "exceeded":
    case "stopped":
      writeEnd(writer, message)
      break
    default:
      writeIsolate(writer, message)
  }
  writer.end()
}

/** The messages that end a run. */
export type RunEndMessage = Extract<FromRunner, Ended>
type IsolateMessage = Extract<FromRunner, { readonly isolate: number }>

const writeEnd = (writer: FrameWriter, message: RunEndMessage): void => {
  writer.u32(message.run)
  writer.f64(message.cpuMs)
  writer.f64(message.heapBytes)
  switch (message.kind) {
    case "returned":
      writer.text(message.output)
      break
    case "responded":
      writer.u32(message.status)
      writer.u8(encodings.indexOf(message.encoding))
      writer.text(message.headers)
      writer.text(message.body)
      break
    case "threw":
      writer.text(message.name)
      writer.text(message.message)
      writer.text(message.stack)
      writer.u8(message.isFinal ? 1 : 0)
      writer.u8(message.afterMs === null ? 0 : 1)
      if (message.afterMs !== null) writer.f64(message.afterMs)
      break
    case "exceeded":
      writer.text(message.limit)
      writer.text(message.message)
      break
    case "stopped":
      break
  }
}

const writeIsolate = (writer: FrameWriter, message: IsolateMessage): void => {
  writer.u32(message.isolate)
  switch (message.kind) {
    case "loaded":
      writer.text(message.exports)
      writer.bytes(message.cache)
      break
    case "loadFailed":
      writer.u8(loadFailures.indexOf(message.failure))
      writer.text(message.name)
      writer.text(message.message)
      writer.text(message.stack)
      break
    case "lost":
      writer.u8(lossCauses.indexOf(message.cause))
      writer.u32(message.computing)
      writer.f64(message.cpuMs)
      writer.f64(message.heapBytes)
      break
    case "busy":
      writer.u32(message.run)
      break
    case "idle":
    case "draining":
    case "unresponsive":
      break
  }
}

/** Reads one message. Throws `ProtocolError` for any other content. */
export const readFromRunner = (cursor: Cursor): FromRunner => {
  const message = read(cursor)
  cursor.end()
  return message
}

const read = (cursor: Cursor): FromRunner => {
  switch (cursor.kind) {
    case kinds.ready:
      return { kind: "ready", cache: cursor.bytes() }
    case kinds.heartbeat:
      return { kind: "heartbeat", rssBytes: cursor.f64() }
    case kinds.call:
      return { kind: "call", run: cursor.u32(), call: cursor.u32(), op: cursor.text(), payload: cursor.text() }
    case kinds.log:
      return readLog(cursor)
    case kinds.runAge:
      return { kind: "runAge", run: cursor.u32(), ms: cursor.f64() }
    case kinds.returned:
    case kinds.responded:
    case kinds.threw:
    case kinds.exceeded:
    case kinds.stopped:
      return readEnd(cursor)
    default:
      return readIsolate(cursor)
  }
}

const readLog = (cursor: Cursor): FromRunner => {
  const run = cursor.u32()
  const level = member(logLevels, cursor.u8())
  const hasData = cursor.u8() === 1
  const message = cursor.text()
  const data = cursor.text()
  return { kind: "log", run, level, message, data: hasData ? data : null }
}

const readEnd = (cursor: Cursor): FromRunner => {
  const run = cursor.u32()
  const cpuMs = cursor.f64()
  const heapBytes = cursor.f64()
  switch (cursor.kind) {
    case kinds.returned:
      return { kind: "returned", run, cpuMs, heapBytes, output: cursor.text() }
    case kinds.responded: {
      const status = cursor.u32()
      const encoding = member(encodings, cursor.u8())
      return { kind: "responded", run, cpuMs, heapBytes, status, encoding, headers: cursor.text(), body: cursor.text() }
    }
    case kinds.threw: {
      const error = { name: cursor.text(), message: cursor.text(), stack: cursor.text() }
      const isFinal = member([false, true], cursor.u8())
      const afterMs = member([false, true], cursor.u8()) ? cursor.f64() : null
      return { kind: "threw", run, cpuMs, heapBytes, ...error, isFinal, afterMs }
    }
    case kinds.exceeded:
      return { kind: "exceeded", run, cpuMs, heapBytes, limit: cursor.text(), message: cursor.text() }
    default:
      return { kind: "stopped", run, cpuMs, heapBytes }
  }
}

const readIsolate = (cursor: Cursor): FromRunner => {
  const kind = cursor.kind
  if (kind < kinds.loaded || kind > kinds.draining) throw new ProtocolError(`a frame of unknown kind ${kind}`)
  const isolate = cursor.u32()
  switch (kind) {
    case kinds.loaded:
      return { kind: "loaded", isolate, exports: cursor.text(), cache: cursor.bytes() }
    case kinds.loadFailed: {
      const failure = member(loadFailures, cursor.u8())
      return {
        kind: "loadFailed",
        isolate,
        failure,
        name: cursor.text(),
        message: cursor.text(),
        stack: cursor.text()
      }
    }
    case kinds.lost:
      return {
        kind: "lost",
        isolate,
        cause: member(lossCauses, cursor.u8()),
        computing: cursor.u32(),
        cpuMs: cursor.f64(),
        heapBytes: cursor.f64()
      }
    case kinds.busy:
      return { kind: "busy", isolate, run: cursor.u32() }
    case kinds.idle:
      return { kind: "idle", isolate }
    case kinds.draining:
      return { kind: "draining", isolate }
    default:
      return { kind: "unresponsive", isolate }
  }
}
