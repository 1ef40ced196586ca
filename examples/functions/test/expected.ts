/** Computes the expected runs of a sample by running the functions in this process. */
import type { Event, Meta } from "@weft/sdk"
import { testEnv } from "@weft/sdk/testing"
import * as project from "../src/index.ts"
import type { EventRecord } from "./api.ts"

/** The end of a run: its result or its error message. */
export type Ending =
  | { readonly status: "succeeded"; readonly result: unknown }
  | { readonly status: "failed"; readonly message: string }

interface Handler {
  (event: never, svc: never): unknown
  readonly meta: Meta
}

const handlers: ReadonlyArray<Handler> = [
  project.flaky,
  project.github.onAny,
  project.github.onIssue,
  project.github.onPullRequest,
  project.github.onPush,
  project.github.onRelease,
  project.github.onStar
]

/** Returns all attempts of all handlers that subscribe to the event's type. */
export const expectedEndings = async (event: EventRecord): Promise<ReadonlyArray<Ending>> => {
  const subscribed = handlers.filter(({ meta }) =>
    [meta.event ?? []].flat().some((pattern) => matches(pattern, event.event_type))
  )
  return (await Promise.all(subscribed.map((handler) => runAttempts(handler, event)))).flat()
}

const matches = (pattern: string, type: string): boolean =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type

const runAttempts = async (handler: Handler, event: Pick<Event, "event_type" | "event_data">) => {
  const endings: Array<Ending> = []
  for (let attempt = 1; attempt <= (handler.meta.retry?.attempts ?? 1); attempt++) {
    const { result, error } = await testEnv().deliver(handler, event, { attempt })
    if (error === null) return [...endings, { status: "succeeded", result } as const]
    endings.push({ status: "failed", message: error.message })
  }
  return endings
}
