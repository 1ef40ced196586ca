/** A message to an isolate: the arguments of the kernel's `enter`. */
import type { RequestBody } from "@weft/core/adapter"

/** Kinds of messages. The kernel uses the same numbers. */
export const messageKinds = { invoke: 0, resolve: 1, reject: 2, timer: 3, stop: 4 }

export interface KernelMessage {
  readonly kind: number
  readonly run: number
  readonly a: number
  readonly text: string
  readonly detail: string
  readonly body: RequestBody | null
}
