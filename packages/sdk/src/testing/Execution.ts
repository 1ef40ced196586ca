/** One run in a test, from the call of its function to its end. */
import type { Caller, RunFacts, Svc } from "../Svc.ts"
import { withGlobals } from "./globals.ts"
import type { MemoryFiles } from "./MemoryFiles.ts"
import { RunBook } from "./Records.ts"
import { checkOpen, type Surroundings, testSvc } from "./TestSvc.ts"

/** Answers what functions `fetch`. */
export type Answering = (request: Request) => Response | Promise<Response>

/** What all runs of an environment have. */
export interface Place extends Surroundings {
  readonly files: MemoryFiles
  readonly fetch: Answering | undefined
}

/** What a run is to be. */
export interface Job {
  readonly run: RunFacts
  readonly caller: Caller | null
  /** What `svc` has beside what every `svc` has. */
  readonly facts: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal | undefined
  /** Calls the function, and makes of its value what the run came to. */
  readonly body: (svc: Svc) => Promise<unknown>
}

export type Ending =
  | { readonly status: "succeeded"; readonly value: unknown }
  | { readonly status: "failed"; readonly thrown: unknown }
  | { readonly status: "cancelled" }

export interface Ended {
  readonly book: RunBook
  readonly ending: Ending
}

/** Never rejects. */
export const execute = async (place: Place, { run, caller, facts, signal, body }: Job): Promise<Ended> => {
  const book = new RunBook()
  const stop = new AbortController()
  const files = place.files.as(run.run_id, () => checkOpen(book))
  const svc = { ...facts, ...testSvc(place, { run, caller, signal: stop.signal, files }, book) }
  const globals = {
    svc,
    fetch: fetchOf(place.fetch, book),
    log: (level: Parameters<RunBook["log"]>[0], message: string) => book.log(level, message, null)
  }
  const ending = withGlobals(globals, () => endingOf(() => body(svc)))
  const stopped = whenAborted(signal, () => {
    book.end()
    stop.abort(new DOMException("the run was stopped: cancelled", "AbortError"))
  })
  const ended = await Promise.race([ending, stopped])
  book.end()
  return { book, ending: ended }
}

const endingOf = async (body: () => Promise<unknown>): Promise<Ending> => {
  try {
    return { status: "succeeded", value: await body() }
  } catch (thrown) {
    return { status: "failed", thrown }
  }
}

const whenAborted = (signal: AbortSignal | undefined, stop: () => void): Promise<Ending> =>
  new Promise((resolve) => {
    const end = (): void => {
      stop()
      resolve({ status: "cancelled" })
    }
    if (signal?.aborted) end()
    else signal?.addEventListener("abort", end, { once: true })
  })

const fetchOf =
  (answer: Answering | undefined, book: RunBook): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    checkOpen(book)
    request.signal.throwIfAborted()
    if (answer === undefined) throw new TypeError(`fetch: nothing answers ${request.url}: give testEnv({ fetch })`)
    return answer(request)
  }
