/** Makes environments for tests. */
import type { Event } from "../Event.ts"
import type { Meta } from "../Meta.ts"
import type { Caller, RunFacts, RunType, Svc } from "../Svc.ts"
import type { Tick } from "../Tick.ts"
import { type Answer, answerOf, failedAnswer, jsonText } from "./answers.ts"
import { type Ended, execute } from "./Execution.ts"
import { functionsOf } from "./exported.ts"
import { failureOf } from "./failures.ts"
import { MemoryFiles } from "./MemoryFiles.ts"
import { requestOf, type TestRequest } from "./requests.ts"
import type { CallerOptions, EventOptions, RunOptions, TestAnswer, TestEnv, TestOptions, TestRun } from "./TestEnv.ts"
import { fakesOf } from "./TestHost.ts"

interface Fn {
  (input: unknown, svc: Svc): unknown
  readonly meta?: Meta
}

type Delivered = Partial<Event> & Pick<Event, "event_type" | "event_data">

/** `TestEnv`, for functions of any type. */
interface Loose {
  readonly files: TestEnv["files"]
  readonly event: (fn: Fn, data: unknown, options?: EventOptions<Event>) => Promise<TestRun<unknown>>
  readonly deliver: (fn: Fn, event: Delivered, options?: RunOptions) => Promise<TestRun<unknown>>
  readonly tick: (fn: Fn, tick?: Partial<Tick>, options?: RunOptions) => Promise<TestRun<unknown>>
  readonly request: (fn: Fn, request?: TestRequest, options?: CallerOptions) => Promise<TestAnswer>
  readonly tool: (fn: Fn, args: unknown, options?: CallerOptions) => Promise<TestRun<unknown>>
  readonly call: (
    fn: (...args: ReadonlyArray<unknown>) => unknown,
    args: ReadonlyArray<unknown>,
    options?: RunOptions
  ) => Promise<TestRun<unknown>>
}

/**
 * An environment for tests. Everything is in memory; ids and times are the same at every start.
 *
 *     const env = testEnv({ context: { KEY: "secret" } })
 *     const run = await env.event(onOrder, { id: "7", total: 21 })
 *     expect(run).toMatchObject({ status: "succeeded", result: { total: 42 } })
 */
export function testEnv(options?: TestOptions): TestEnv
export function testEnv(options: TestOptions = {}): Loose {
  const { now = "2026-01-01T00:00:00.000Z", context = {}, assets = {}, functions, host = {}, fetch } = options
  const freshId = idsFromOne()
  const ids = { env_id: freshId(), project_id: freshId(), build_id: freshId() }
  const files = new MemoryFiles(options.files ?? {}, { now, env_id: ids.env_id, freshId })
  const known = functions === undefined ? null : functionsOf(functions)
  const place = { context, assets, functions: known, host: fakesOf(host), freshId, files, fetch }

  const factsOf = (run_type: RunType, { attempt = 1, run }: RunOptions): RunFacts => ({
    run_id: freshId(),
    stream_id: freshId(),
    ...ids,
    run_type,
    attempt,
    origin_run_id: null,
    ...run
  })

  const eventOf = ({ env_id, stream_id }: RunFacts, given: Delivered): Event =>
    asJson({ event_id: freshId(), env_id, stream_id, event_time: now, created_at: now, ...given })

  const start = (
    run: RunFacts,
    facts: Readonly<Record<string, unknown>>,
    { signal }: RunOptions,
    body: (svc: Svc) => Promise<unknown>,
    caller: Caller | null = null
  ) => execute(place, { run, caller, facts, signal, body })

  const deliver: Loose["deliver"] = async (fn, given, options = {}) => {
    const run = factsOf("event", options)
    const event = eventOf(run, given)
    return plain(run, await start(run, { event }, options, async (svc) => stored(await fn(event, svc))))
  }

  return {
    files: files.as(null, () => undefined),
    deliver,

    event: async (fn, event_data, options = {}) =>
      deliver(fn, { ...options.event, event_type: options.type ?? typeOf(fn.meta), event_data }, options),

    tick: async (fn, given = {}, options = {}) => {
      const run = factsOf("schedule", options)
      const tick = { schedule_id: freshId(), scheduled_time: now, cron: cronOf(fn.meta), ...given }
      const event = eventOf(run, { event_type: "svc:schedule", event_data: { ...tick, fn: "main/fn" } })
      return plain(run, await start(run, { event, tick }, options, async (svc) => stored(await fn(tick, svc))))
    },

    request: async (fn, sent = {}, options = {}) => {
      const run = factsOf("call", options)
      const { caller = anyone(freshId()) } = options
      const known = fn.meta?.webhook?.auth === "required" ? caller : null
      const request = asJson(requestOf(sent, fn.meta, known))
      let answer: Answer | undefined
      const body = async (svc: Svc): Promise<unknown> => {
        answer = await answerOf(await fn(request, svc))
        return answer.result
      }
      const ended = plain(run, await start(run, { request }, options, body, known))
      return { ...ended, response: ended.status === "succeeded" && answer ? answer.response : failedAnswer() }
    },

    tool: async (fn, args, options = {}) => {
      const run = factsOf("call", options)
      const tool = asJson(args)
      const body = async (svc: Svc): Promise<unknown> => stored(await fn(tool, svc))
      return plain(run, await start(run, { tool }, options, body, options.caller ?? anyone(freshId())))
    },

    call: async (fn, given, options = {}) => {
      const run = factsOf("call", options)
      const args = asJson(given)
      const event = eventOf(run, { event_type: "svc:call", event_data: { fn: "main/fn", args } })
      return plain(run, await start(run, { event, args }, options, async () => stored(await fn(...args))))
    }
  }
}

const idsFromOne = (): (() => string) => {
  let last = 0
  return () => `00000000-0000-7000-8000-${(++last).toString(16).padStart(12, "0")}`
}

const plain = (run: RunFacts, { book, ending }: Ended): TestRun<unknown> => {
  const { published, calls, scheduled, cancelled, hostCalls, emitted, logs } = book
  return {
    run,
    status: ending.status,
    result: ending.status === "succeeded" ? ending.value : null,
    error: ending.status === "failed" ? failureOf(ending.thrown) : null,
    ...{ published, calls, scheduled, cancelled, hostCalls, emitted, logs }
  }
}

/** A value as the run's result keeps it. */
const stored = (value: unknown): unknown => JSON.parse(jsonText(value))

const asJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** The type that a function handles, where there is but one. */
const typeOf = (meta: Meta | undefined): string => {
  const [type, ...others] = [meta?.event ?? []].flat()
  if (type !== undefined && others.length === 0 && !type.endsWith("*")) return type
  throw new TypeError("The function does not handle exactly one event type: say which one, { type }")
}

const cronOf = (meta: Meta | undefined): string => {
  const [first] = [meta?.schedule ?? []].flat()
  return (typeof first === "string" ? first : first?.cron) ?? "* * * * *"
}

/** Who calls unless the test says. */
const anyone = (id: string): Caller => ({ type: "api-key", id, permissions: { "*:*": ["*"] }, metadata: null })
