/** The kernel's words on how a run ended, as messages to the supervisor. */
import { encodings, type FromRunner } from "../protocol/FromRunner.ts"
import { describedParts } from "./Guest.ts"
import type { OutboxFrame } from "./Outbox.ts"

/** The messages that end a run. */
export type RunEnd = Extract<FromRunner, { readonly run: number; readonly cpuMs: number }>

export interface RunUsage {
  readonly cpuMs: number
  readonly heapBytes: number
}

/** The end that a frame says, or undefined when it says something else. */
export const endOf = (frame: OutboxFrame, usage: RunUsage): RunEnd | undefined => {
  const { run, first, second } = frame
  switch (frame.letter) {
    case "R":
      return { kind: "returned", run, output: first, ...usage }
    case "H": {
      const encoding = encodings[frame.b] ?? "json"
      return { kind: "responded", run, status: frame.a, encoding, headers: first, body: second, ...usage }
    }
    case "E": {
      const [name, message, stack] = describedParts(first)
      return { kind: "threw", run, name, message, stack, ...usage }
    }
    case "X":
      return { kind: "exceeded", run, limit: first, message: second, ...usage }
    case "A":
      return { kind: "stopped", run, ...usage }
    default:
      return undefined
  }
}
