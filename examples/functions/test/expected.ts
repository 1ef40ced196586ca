/** What must become of a sample, found by running the functions themselves in this process. */
import type { Event, Meta } from "@weft/sdk"
import { testEnv } from "@weft/sdk/testing"
import * as project from "../src/index.ts"
import type { EventRecord } from "./api.ts"

/** One run: its result, or the message that it failed with. */
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

/** Every attempt of every handler that takes the event's type. */
export const expectedEndings = async (event: EventRecord): Promise<ReadonlyArray<Ending>> => {
  const taking = handlers.filter(({ meta }) => [meta.event ?? []].flat().some((it) => takes(it, event.event_type)))
  return (await Promise.all(taking.map((handler) => attemptsOf(handler, event)))).flat()
}

const takes = (pattern: string, type: string): boolean =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type

const attemptsOf = async (handler: Handler, event: Pick<Event, "event_type" | "event_data">) => {
  const endings: Array<Ending> = []
  for (let attempt = 1; attempt <= (handler.meta.retry?.attempts ?? 1); attempt++) {
    const { result, error } = await testEnv().deliver(handler, event, { attempt })
    if (error === null) return [...endings, { status: "succeeded", result } as const]
    endings.push({ status: "failed", message: error.message })
  }
  return endings
}
