/** Fails in the first attempt and succeeds in the second, like many remote services. */
import { handler } from "@weft/sdk"

export const flaky = handler(
  { event: "github:ping", retry: { attempts: 3, delay: "100ms", jitter: false } },
  (_event, svc) => {
    if (svc.run.attempt === 1) throw new Error("The first attempt always fails")
    return { kind: "flaky", attempt: svc.run.attempt }
  }
)
