/** Fails at first and works when tried again, as things on the other end of a network do. */
import { handler } from "@weft/sdk"

export const flaky = handler(
  { event: "github:ping", retry: { attempts: 3, delay: "100ms", jitter: false } },
  (_event, svc) => {
    if (svc.run.attempt === 1) throw new Error("The first attempt never works")
    return { kind: "flaky", attempt: svc.run.attempt }
  }
)
