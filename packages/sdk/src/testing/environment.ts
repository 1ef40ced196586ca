/** Creates environments for tests. */
import type { Event } from "../Event.ts"
import type { ResourceRequest } from "../McpResult.ts"
import type { Meta } from "../Meta.ts"
import type { Caller, RunFacts, RunType, Svc } from "../Svc.ts"
import type { Tick } from "../Tick.ts"
import { type EndedRun, execute } from "./Execution.ts"
import { toFailure } from "./failures.ts"
import { makeContext } from "./makeContext.ts"
import { buildRequest, type TestRequest } from "./requests.ts"
import { failureResponse, jsonText, toReply, type WebhookReply } from "./responses.ts"
import type { CallerOptions, EventOptions, RunOptions, TestAnswer, TestEnv, TestOptions, TestRun } from "./TestEnv.ts"

interface Fn {
  (input: unknown, svc: Svc): unknown
  readonly meta?: Meta
}

type Delivered = Partial<Event> & Pick<Event, "event_type" | "event_data">

/** `TestEnv` for functions of any type. */
interface UntypedTestEnv {
  readonly files: TestEnv["files"]
  readonly event: (fn: Fn, data: unknown, options?: EventOptions<Event>) => Promise<TestRun<unknown>>
  readonly deliver: (fn: Fn, event: Delivered, options?: RunOptions) => Promise<TestRun<unknown>>
  readonly batch: (fn: Fn, data: ReadonlyArray<unknown>, options?: EventOptions<Event>) => Promise<TestRun<unknown>>
  readonly tick: (fn: Fn, tick?: Partial<Tick>, options?: RunOptions) => Promise<TestRun<unknown>>
  readonly request: (fn: Fn, request?: TestRequest, options?: CallerOptions) => Promise<TestAnswer>
  readonly tool: (fn: Fn, args: unknown, options?: CallerOptions) => Promise<TestRun<unknown>>
  readonly resource: (fn: Fn, request: Partial<ResourceRequest>, options?: CallerOptions) => Promise<TestRun<unknown>>
  readonly prompt: (fn: Fn, args: unknown, options?: CallerOptions) => Promise<TestRun<unknown>>
  readonly call: (
    fn: (...args: ReadonlyArray<unknown>) => unknown,
    args: ReadonlyArray<unknown>,
    options?: RunOptions
  ) => Promise<TestRun<unknown>>
}

/**
 * Creates an environment for tests. All state is in memory; ids and times are the same at every start.
 *
 *     const env = testEnv({ context: { KEY: "secret" } })
 *     const run = await env.event(onOrder, { id: "7", total: 21 })
 *     expect(run).toMatchObject({ status: "succeeded", result: { total: 42 } })
 */
export function testEnv(options?: TestOptions): TestEnv
export function testEnv(options: TestOptions = {}): UntypedTestEnv {
  const execution = makeContext(options)
  const { files, freshId, ids, now } = execution

  const buildRun = (run_type: RunType, { attempt = 1, run }: RunOptions): RunFacts => ({
    run_id: freshId(),
    stream_id: freshId(),
    ...ids,
    run_type,
    attempt,
    origin_run_id: null,
    ...run
  })

  const buildEvent = ({ env_id, stream_id }: RunFacts, given: Delivered): Event =>
    asJson({ event_id: freshId(), env_id, stream_id, event_time: now, created_at: now, ...given })

  const start = (
    run: RunFacts,
    facts: Readonly<Record<string, unknown>>,
    { signal }: RunOptions,
    body: (svc: Svc) => Promise<unknown>,
    caller: Caller | null = null
  ) => execute(execution, { run, caller, facts, signal, body })

  const deliver: UntypedTestEnv["deliver"] = async (fn, given, options = {}) => {
    const run = buildRun("event", options)
    const event = buildEvent(run, given)
    return toTestRun(run, await start(run, { event }, options, async (svc) => stored(await fn(event, svc))))
  }

  /** Calls a function for an MCP client, with the fact `name` as its first argument. */
  const startMcp = async (
    name: "tool" | "resource" | "prompt",
    fn: Fn,
    given: unknown,
    options: CallerOptions = {}
  ): Promise<TestRun<unknown>> => {
    const run = buildRun("call", options)
    const fact = asJson(given)
    const body = async (svc: Svc): Promise<unknown> => stored(await fn(fact, svc))
    return toTestRun(run, await start(run, { [name]: fact }, options, body, options.caller ?? defaultCaller(freshId())))
  }

  return {
    files: files.as(null, () => undefined),
    deliver,

    event: async (fn, event_data, options = {}) =>
      deliver(fn, { ...options.event, event_type: options.type ?? readEventType(fn.meta), event_data }, options),

    batch: async (fn, data, options = {}) => {
      const run = buildRun("event", options)
      const event_type = options.type ?? readEventType(fn.meta)
      const batch = data.map((event_data) => buildEvent(run, { ...options.event, event_type, event_data }))
      return toTestRun(run, await start(run, { batch }, options, async (svc) => stored(await fn(batch, svc))))
    },

    tick: async (fn, given = {}, options = {}) => {
      const run = buildRun("schedule", options)
      const tick = { schedule_id: freshId(), scheduled_time: now, cron: readCron(fn.meta), ...given }
      const event = buildEvent(run, { event_type: "svc:schedule", event_data: { ...tick, fn: "main/fn" } })
      return toTestRun(run, await start(run, { event, tick }, options, async (svc) => stored(await fn(tick, svc))))
    },

    request: async (fn, sent = {}, options = {}) => {
      const run = buildRun("call", options)
      const { caller = defaultCaller(freshId()) } = options
      const known = fn.meta?.webhook?.auth === "required" ? caller : null
      const request = asJson(buildRequest(sent, fn.meta, known))
      let reply: WebhookReply | undefined
      const body = async (svc: Svc): Promise<unknown> => {
        reply = await toReply(await fn(request, svc))
        return reply.result
      }
      const ended = toTestRun(run, await start(run, { request }, options, body, known))
      return { ...ended, response: ended.status === "succeeded" && reply ? reply.response : failureResponse() }
    },

    tool: (fn, args, options) => startMcp("tool", fn, args, options),
    prompt: (fn, args, options) => startMcp("prompt", fn, args, options),
    resource: (fn, request, options) =>
      startMcp("resource", fn, { uri: fn.meta?.resource?.uri ?? "", params: {}, ...request }, options),

    call: async (fn, given, options = {}) => {
      const run = buildRun("call", options)
      const args = asJson(given)
      const event = buildEvent(run, { event_type: "svc:call", event_data: { fn: "main/fn", args } })
      return toTestRun(run, await start(run, { event, args }, options, async () => stored(await fn(...args))))
    }
  }
}

const toTestRun = (run: RunFacts, { recorder, ending }: EndedRun): TestRun<unknown> => {
  const { published, calls, scheduled, cancelled, hostCalls, emitted, logs } = recorder
  return {
    run,
    status: ending.status,
    result: ending.status === "succeeded" ? ending.value : null,
    error: ending.status === "failed" ? toFailure(ending.thrown) : null,
    ...{ published, calls, scheduled, cancelled, hostCalls, emitted, logs }
  }
}

/** Converts a value to its stored form. */
const stored = (value: unknown): unknown => JSON.parse(jsonText(value))

const asJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** Returns the only event type that a function handles. */
export const readEventType = (meta: Meta | undefined): string => {
  const [type, ...others] = [meta?.event ?? []].flat()
  if (type !== undefined && others.length === 0 && !type.endsWith("*")) return type
  throw new TypeError("The function does not handle exactly one event type: set the option type")
}

const readCron = (meta: Meta | undefined): string => {
  const [first] = [meta?.schedule ?? []].flat()
  return (typeof first === "string" ? first : first?.cron) ?? "* * * * *"
}

/** Returns the default caller. */
const defaultCaller = (id: string): Caller => ({ type: "api-key", id, permissions: { "*:*": ["*"] }, metadata: null })
