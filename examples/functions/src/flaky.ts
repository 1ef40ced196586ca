/** Fails at first and works when tried again, as things on the other end of a network do. */
import type { Event, Meta, Svc } from "./types.ts"

export const flaky = (_event: Event, svc: Svc) => {
  if (svc.run.attempt === 1) throw new Error("The first attempt never works")
  return { kind: "flaky", attempt: svc.run.attempt }
}

flaky.meta = { event: "github:ping", retry: { attempts: 3, delay: "100ms", jitter: false } } satisfies Meta
