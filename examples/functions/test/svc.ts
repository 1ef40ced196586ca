import { secretKey } from "../src/receive.ts"
import type { Svc } from "../src/types.ts"
import { webhookSecret } from "./payloads.ts"

/** A `svc` that keeps what a function published and logged, of a project with these secrets. */
export const testSvc = (attempt = 1, secrets: Readonly<Record<string, string>> = { [secretKey]: webhookSecret }) => {
  const published: Array<{ readonly type: string; readonly data: unknown }> = []
  const logged: Array<string> = []
  const log = (message: string): void => void logged.push(message)
  return {
    published,
    logged,
    run: { run_id: "run-1", attempt },
    context: { get: async (key) => secrets[key] ?? null },
    events: { publish: async (event) => ({ event_id: `event-${published.push(event)}` }) },
    log: { debug: log, info: log, warn: log, error: log }
  } satisfies Svc & Record<"published" | "logged", unknown>
}
