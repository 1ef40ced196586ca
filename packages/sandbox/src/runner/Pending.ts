/** A message on its way into an isolate: what the kernel's `enter` is called with. */
import type { RequestBody } from "@weft/core"

/** Kinds of messages. The kernel knows the same numbers. */
export const entries = { invoke: 0, answer: 1, refuse: 2, timer: 3, stop: 4 }

export interface Pending {
  readonly kind: number
  readonly run: number
  readonly a: number
  readonly text: string
  readonly detail: string
  readonly body: RequestBody | null
}
