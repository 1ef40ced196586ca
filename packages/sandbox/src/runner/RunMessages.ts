/** Converts the kernel's frames to messages for the supervisor. */
import { encodings, type FromRunner, logLevels, type RunEndMessage } from "../protocol/FromRunner.ts"
import { parseErrorParts } from "./KernelScript.ts"
import type { OutputFrame } from "./OutputFrames.ts"

export interface RunUsage {
  readonly cpuMs: number
  readonly heapBytes: number
}

/** Returns the message for a frame that ends a run, or undefined for other frames. */
export const toRunEnd = (frame: OutputFrame, usage: RunUsage): RunEndMessage | undefined => {
  const { run, first, second } = frame
  switch (frame.letter) {
    case "R":
      return { kind: "returned", run, output: first, ...usage }
    case "H": {
      const encoding = encodings[frame.b] ?? "json"
      return { kind: "responded", run, status: frame.a, encoding, headers: first, body: second, ...usage }
    }
    case "E": {
      const [name, message, stack] = parseErrorParts(first)
      const afterMs = second === "" ? null : Number(second)
      return { kind: "threw", run, name, message, stack, isFinal: frame.a === 1, afterMs, ...usage }
    }
    case "X":
      return { kind: "exceeded", run, limit: first, message: second, ...usage }
    case "A":
      return { kind: "stopped", run, ...usage }
    default:
      return undefined
  }
}

/** Returns the message for a host call or a log line, or undefined for other frames. */
export const toCallOrLog = ({ letter, run, a, b, first, second }: OutputFrame): FromRunner | undefined => {
  if (letter === "C") return { kind: "call", run, call: a, op: first, payload: second }
  if (letter !== "L") return undefined
  return { kind: "log", run, level: logLevels[a] ?? "info", message: first, data: b === 1 ? second : null }
}

export const toLoadTimeout = (isolate: number, ms: number): FromRunner => ({
  kind: "loadFailed",
  isolate,
  failure: "timeout",
  name: "Error",
  message: `the bundle did not load within ${ms} ms`,
  stack: ""
})
