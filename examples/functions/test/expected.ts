/** What must become of a sample, found by asking the functions themselves in this process. */
import * as project from "../src/index.ts"
import type { Event, Meta, Svc } from "../src/types.ts"
import { testSvc } from "./svc.ts"

/** One run: its result, or the message that it failed with. */
export type Ending =
  | { readonly status: "succeeded"; readonly result: unknown }
  | { readonly status: "failed"; readonly message: string }

interface Handler {
  (event: Event, svc: Svc): unknown
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
export const expectedEndings = (event: Event): ReadonlyArray<Ending> =>
  handlers
    .filter(({ meta }) => [meta.event ?? []].flat().some((pattern) => takes(pattern, event.event_type)))
    .flatMap((handler) => attemptsOf(handler, event))

const takes = (pattern: string, type: string): boolean =>
  pattern.endsWith("*") ? type.startsWith(pattern.slice(0, -1)) : pattern === type

const attemptsOf = (handler: Handler, event: Event): ReadonlyArray<Ending> => {
  const endings: Array<Ending> = []
  for (let attempt = 1; attempt <= (handler.meta.retry?.attempts ?? 1); attempt++) {
    const ending = endingOf(handler, event, attempt)
    endings.push(ending)
    if (ending.status === "succeeded") break
  }
  return endings
}

const endingOf = (handler: Handler, event: Event, attempt: number): Ending => {
  try {
    return { status: "succeeded", result: handler(event, testSvc(attempt)) }
  } catch (error) {
    return { status: "failed", message: error instanceof Error ? error.message : String(error) }
  }
}
