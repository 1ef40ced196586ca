/** One run in a test, from its call to its end. */
import type { Caller, RunFacts, Svc } from "../Svc.ts"
import { withGlobals } from "./globals.ts"
import type { MemoryFiles } from "./MemoryFiles.ts"
import { RunBook } from "./Records.ts"
import { checkOpen, type EnvContext, testSvc } from "./TestSvc.ts"

/** Responds to the requests of `fetch`. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** State that all runs of an environment share. */
export interface ExecutionContext extends EnvContext {
  readonly files: MemoryFiles
  readonly fetch: FetchHandler | undefined
}

/** Specification of a run. */
export interface RunSpec {
  readonly run: RunFacts
  readonly caller: Caller | null
  /** Properties of `svc` in addition to those of every `svc`. */
  readonly facts: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal | undefined
  /** Calls the function and returns the run's result. */
  readonly body: (svc: Svc) => Promise<unknown>
}

export type RunOutcome =
  | { readonly status: "succeeded"; readonly value: unknown }
  | { readonly status: "failed"; readonly thrown: unknown }
  | { readonly status: "cancelled" }

export interface EndedRun {
  readonly recorder: RunBook
  readonly ending: RunOutcome
}

/** Executes a run; never rejects. */
export const execute = async (
  context: ExecutionContext,
  { run, caller, facts, signal, body }: RunSpec
): Promise<EndedRun> => {
  const recorder = new RunBook()
  const stop = new AbortController()
  const files = context.files.as(run.run_id, () => checkOpen(recorder))
  const svc = { ...facts, ...testSvc(context, { run, caller, signal: stop.signal, files }, recorder) }
  const globals = {
    svc,
    fetch: makeFetch(context.fetch, recorder),
    log: (level: Parameters<RunBook["log"]>[0], message: string) => recorder.log(level, message, null)
  }
  const ending = withGlobals(globals, () => settle(() => body(svc)))
  const stopped = onAbort(signal, () => {
    recorder.end()
    stop.abort(new DOMException("the run was stopped: cancelled", "AbortError"))
  })
  const ended = await Promise.race([ending, stopped])
  recorder.end()
  return { recorder, ending: ended }
}

const settle = async (body: () => Promise<unknown>): Promise<RunOutcome> => {
  try {
    return { status: "succeeded", value: await body() }
  } catch (thrown) {
    return { status: "failed", thrown }
  }
}

const onAbort = (signal: AbortSignal | undefined, stop: () => void): Promise<RunOutcome> =>
  new Promise((resolve) => {
    const end = (): void => {
      stop()
      resolve({ status: "cancelled" })
    }
    if (signal?.aborted) end()
    else signal?.addEventListener("abort", end, { once: true })
  })

/** Returns the `fetch` of a run. */
export const makeFetch =
  (answer: FetchHandler | undefined, recorder: RunBook): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init)
    checkOpen(recorder)
    request.signal.throwIfAborted()
    if (answer === undefined) throw new TypeError(`fetch: no handler for ${request.url}: set testEnv({ fetch })`)
    return answer(request)
  }
