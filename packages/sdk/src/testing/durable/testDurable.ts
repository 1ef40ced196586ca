/** Runs durable functions in tests, with virtual time and without a server. */
import type { Event } from "../../Event.ts"
import type { Meta } from "../../Meta.ts"
import type { RunFacts } from "../../Svc.ts"
import { readEventType } from "../environment.ts"
import { namedError, toFailure } from "../failures.ts"
import { makeContext, type TestContext } from "../makeContext.ts"
import { jsonText } from "../responses.ts"
import type { Stored } from "../TestEnv.ts"
import { checkCrashes } from "./CrashCheck.ts"
import type {
  DurableCallOptions,
  DurableEventFunction,
  DurableEventOptions,
  DurableKit,
  DurableState,
  DurableTestOptions
} from "./DurableKit.ts"
import { DurableRun } from "./DurableRun.ts"
import { parseDuration } from "./Duration.ts"
import { describeWaits, toEntry } from "./History.ts"
import { TestDoubles } from "./TestDoubles.ts"

interface AnyDurableFunction {
  (...args: ReadonlyArray<never>): unknown
  readonly meta?: Meta
}

interface UntypedOptions extends DurableTestOptions {
  readonly event?: { readonly data: unknown; readonly type?: string } & Partial<Event>
  readonly args?: ReadonlyArray<unknown>
}

/**
 * Returns a kit that runs a durable function in memory. Sleeps take no time.
 *
 *     const kit = testDurable(fulfil, { event: { data: order } })
 *     expect(await kit.run()).toMatchObject({ status: "succeeded" })
 *     await kit.crashEverywhere()
 */
export function testDurable<E extends Event, Result>(
  fn: DurableEventFunction<E, Result>,
  options: DurableEventOptions<NoInfer<E>>
): DurableKit<Stored<Result>>
export function testDurable<Args extends ReadonlyArray<unknown>, Result>(
  fn: (...args: Args) => Result | Promise<Result>,
  options: DurableCallOptions<NoInfer<Args>>
): DurableKit<Stored<Result>>
export function testDurable(fn: AnyDurableFunction, options: UntypedOptions): DurableKit<unknown> {
  const context = makeContext(options)
  const doubles = new TestDoubles()
  const { meta } = fn
  if (meta?.durable === undefined || meta.durable === false) {
    throw new TypeError("testDurable takes a durable function: set meta.durable to true, or use durable() of the SDK")
  }
  const run = new DurableRun({ context, doubles, fn: nameOf(fn, context), meta, ...prepare(fn, options, context) })
  return new Kit(run, doubles)
}

/** Returns the facts of the run, and the call of the function. */
const prepare = (fn: AnyDurableFunction, { event, args, run: given }: UntypedOptions, context: TestContext) => {
  const run: RunFacts = {
    run_id: context.freshId(),
    stream_id: context.freshId(),
    ...context.ids,
    ...{ run_type: event === undefined ? "call" : "event", attempt: 1, origin_run_id: null },
    ...given
  }
  const { type, data, ...more } = event ?? { data: { fn: "main/fn", args } }
  const event_type = event === undefined ? "svc:call" : (type ?? readEventType(fn.meta))
  const times = { event_time: context.now, created_at: context.now }
  const facts = { event_id: context.freshId(), env_id: run.env_id, stream_id: run.stream_id, ...times, ...more }
  const read = (): Event => JSON.parse(JSON.stringify({ ...facts, event_type, event_data: data }))
  const list: ReadonlyArray<unknown> = args ?? []
  const call = async (svc: object): Promise<string> =>
    jsonText(
      await Reflect.apply(
        fn,
        undefined,
        event === undefined ? withSvc(JSON.parse(JSON.stringify(list)), svc) : [read(), svc]
      )
    )
  return { run, call, facts: { event: read() } }
}

/** Returns the arguments of a durable function that is called by its name: at least one, then `svc`. */
const withSvc = (args: ReadonlyArray<unknown>, svc: object): ReadonlyArray<unknown> => [
  ...(args.length === 0 ? [undefined] : args),
  svc
]

/** Returns the name of the function in the project. */
const nameOf = (fn: AnyDurableFunction, { functions }: TestContext): string =>
  [...(functions ?? [])].find(([, exported]) => exported === fn)?.[0] ?? "main/fn"

class Kit implements DurableKit<unknown> {
  readonly #run: DurableRun
  readonly #doubles: TestDoubles

  constructor(run: DurableRun, doubles: TestDoubles) {
    this.#run = run
    this.#doubles = doubles
  }

  readonly events: DurableKit<unknown>["events"] = {
    publish: async (event) => {
      await this.start()
      await this.#run.publish(event)
      return this.#state
    }
  }

  readonly tokens: DurableKit<unknown>["tokens"] = {
    complete: async (name, data) => {
      await this.start()
      await this.#run.completeToken(name, data)
      return this.#state
    }
  }

  readonly steps: DurableKit<unknown>["steps"] = {
    mock: (name, double) => this.#doubles.mockStep(name, double)
  }

  readonly functions: DurableKit<unknown>["functions"] = {
    mock: (fn, double) => this.#doubles.mockFunction(fn, double)
  }

  readonly start = async (): Promise<DurableState<unknown>> => {
    if (this.#run.activations === 0) await this.#run.settle()
    return this.#state
  }

  readonly run = async (): Promise<DurableState<unknown>> => {
    await this.start()
    while (this.#run.ending === null && this.#run.waitsForTime) await this.#run.moveTo(this.#run.nextTime)
    return this.#state
  }

  readonly advance: DurableKit<unknown>["advance"] = async (duration) => {
    await this.start()
    const ms = duration === undefined ? this.#run.nextTime - this.#run.now : parseDuration(duration)
    if (ms === null) throw new TypeError(`kit.advance takes a duration such as "3d" (got ${JSON.stringify(duration)})`)
    const end = this.#run.now + ms
    while (this.#run.ending === null && this.#run.nextTime <= end) await this.#run.moveTo(this.#run.nextTime)
    await this.#run.moveTo(end)
    return this.#state
  }

  readonly fail: DurableKit<unknown>["fail"] = (name, { times = 1, error } = {}) =>
    this.#doubles.fail(name, times, error ?? namedError("Error", `The test lets the step "${name}" fail`))

  readonly crashAt = (position: number): void => {
    if (!Number.isInteger(position) || position < this.#run.history.length) {
      throw new TypeError(
        `kit.crashAt takes a position that is not recorded yet, from ${this.#run.history.length} (got ${position})`
      )
    }
    this.#run.crashes.add(position)
  }

  readonly crashEverywhere: DurableKit<unknown>["crashEverywhere"] = async (options = {}) => {
    if (this.#run.activations === 0) await this.run()
    return checkCrashes(this.#run, options)
  }

  readonly history: DurableKit<unknown>["history"] = () => this.#run.history.map(toEntry)

  readonly cancel: DurableKit<unknown>["cancel"] = async ({ cleanup = false } = {}) => {
    const ms = cleanup === true ? 30_000 : cleanup === false ? null : parseDuration(cleanup)
    await this.#run.cancel(ms)
    return this.#state
  }

  get #state(): DurableState<unknown> {
    const { status, waiting, result, error } = this
    const ending = this.#run.ending
    const state = { status, waiting, result, error }
    return ending?.status === "continued" ? { ...state, continuedWith: ending.args } : state
  }

  get status(): DurableState<unknown>["status"] {
    const { ending } = this.#run
    if (ending === null) return "running"
    return ending.status === "continued" ? "succeeded" : ending.status
  }

  get waiting() {
    return describeWaits(this.#run.waits.values())
  }

  get result(): unknown {
    const { ending } = this.#run
    return ending?.status === "succeeded" ? JSON.parse(ending.text) : null
  }

  get error() {
    const { ending } = this.#run
    return ending?.status === "failed" ? toFailure(ending.error) : null
  }

  get continuedWith(): unknown {
    return this.#state.continuedWith
  }

  get warnings() {
    return this.#run.warnings
  }

  get now() {
    return new Date(this.#run.now)
  }

  get activations() {
    return this.#run.activations
  }

  get published() {
    return this.#run.recorder.published
  }

  get calls() {
    return this.#run.recorder.calls
  }

  get scheduled() {
    return this.#run.recorder.scheduled
  }

  get cancelled() {
    return this.#run.recorder.cancelled
  }

  get hostCalls() {
    return this.#run.recorder.hostCalls
  }

  get emitted() {
    return this.#run.recorder.emitted
  }

  get logs() {
    return this.#run.recorder.logs
  }
}
