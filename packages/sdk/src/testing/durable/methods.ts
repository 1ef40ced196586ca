/** The methods of `svc` that only durable functions have. */
import type { Svc } from "../../Svc.ts"
import type { Activation } from "./Activation.ts"
import { fanOut } from "./fanOut.ts"
import type { Settled, Wait } from "./History.ts"
import { makeUuid } from "./Random.ts"
import { checkName, readEnd, readEventWait, readInstant } from "./Requests.ts"
import { type RetryPolicy, readRetry } from "./RetryPolicy.ts"
import type { Undos } from "./Undos.ts"
import { currentZone } from "./Zone.ts"

export interface MethodsContext {
  readonly activation: Activation
  readonly undos: Undos
  readonly runId: string
  readonly startedAt: number
  readonly now: () => number
  /** Policy of the function. */
  readonly retry: RetryPolicy
  /** Tokens by their text. */
  readonly tokens: Map<string, Token>
  /** Gives events and completions that have arrived to a new wait. */
  readonly onWait: (wait: Wait) => void
  /** Calls a function as a child run. */
  readonly invoke: (fn: string, args: unknown) => Promise<Settled>
  /** The methods of functions that are not durable. */
  readonly plain: Pick<Svc, "invoke" | "call">
}

export interface Token {
  readonly name: string
  readonly until: number | null
  /** JSON text of the completion; null before. */
  completed: string | null
}

/** Returns the methods. Arguments are read by the rules of the runtime. */
export const makeDurableMethods = (context: MethodsContext) => ({
  ...makeWaits(context),
  ...makeTokens(context),
  ...makeChildren(context),
  all: async (items: unknown, fn: unknown, options?: unknown) => fanOut(items, fn, readField(options, "concurrency")),
  now: () => context.activation.time,
  random: () => context.activation.random(),
  uuid: () => makeUuid(context.activation.random),
  version: async (id: unknown, max: unknown) => context.activation.versions.get(id, max),
  continueAsNew: (args: unknown): Promise<never> => {
    context.activation.end({ status: "continued", args: JSON.parse(JSON.stringify(args) ?? "null") })
    return new Promise(() => undefined)
  }
})

/** Returns a wait that begins now. */
const newWait = (
  { now }: MethodsContext,
  request: Pick<Wait, "seq" | "kind" | "name">,
  rest: Partial<Pick<Wait, "until" | "event" | "completionOf">>
): Wait => ({
  ...request,
  attempts: 0,
  since: now(),
  until: null,
  event: null,
  completionOf: null,
  ...rest,
  outcome: null
})

const makeWaits = (context: MethodsContext) => {
  const { activation, now, startedAt } = context
  return {
    step: async (name: unknown, body: unknown, options?: unknown) => runStep(context, name, body, options),
    saga: () => ({
      step: async (name: unknown, body: unknown, undo: unknown, options?: unknown) =>
        runStep(context, name, body, options, undo)
    }),
    sleep: async (name: unknown, duration: unknown) =>
      activation.request("sleep", { kind: "sleep", name }, { duration }, async (request) =>
        activation.wait(newWait(context, request, { until: readEnd("sleep", duration, now()) }))
      ),
    sleepUntil: async (name: unknown, time: unknown) =>
      activation.request("sleepUntil", { kind: "sleep", name }, { time }, async (request) =>
        activation.wait(newWait(context, request, { until: readInstant(time, now()) }))
      ),
    waitForEvent: async (name: unknown, options: unknown) =>
      activation.request("waitForEvent", { kind: "event", name }, options, async (request) => {
        const { type, match, fromStart, until } = readEventWait(options, now())
        const event = { type, match, since: fromStart ? startedAt : now(), until }
        const wait = newWait(context, request, { until, event })
        context.onWait(wait)
        return activation.wait(wait)
      })
  }
}

/** Runs a step. `undo` undoes it if the function fails later. */
const runStep = async (context: MethodsContext, given: unknown, body: unknown, options: unknown, undo?: unknown) => {
  const { activation, undos } = context
  const name = checkName("step", given)
  if (typeof body !== "function") throw new TypeError("svc.step takes a name and a function")
  const compensate = undo ?? readField(options, "compensate")
  if (compensate !== undefined && typeof compensate !== "function") {
    throw new TypeError("svc.step: the function that undoes a step must be a function")
  }
  const retry = readField(options, "retry")
  const policy = () => (retry === undefined ? context.retry : readRetry(JSON.parse(JSON.stringify(retry))))
  const result = await activation.request("step", { kind: "step", name }, {}, ({ seq }) =>
    activation.execute(seq, name, (facts) => Reflect.apply(body, undefined, [facts]), policy)
  )
  if (typeof compensate === "function") {
    const undoBody = (facts: object): unknown => Reflect.apply(compensate, undefined, [result, facts])
    undos.add(name, undoBody, (undoName, run) => runStep(context, undoName, run, { retry }))
  }
  return result
}

const makeTokens = (context: MethodsContext) => {
  const { activation, runId, now, tokens } = context
  return {
    createToken: async (name: unknown, options: unknown = {}) => {
      const timeout = readField(options, "timeout")
      const created = await activation.request("createToken", { kind: "token", name }, { timeout }, async (request) => {
        const until = timeout === undefined ? null : readEnd("createToken", timeout, now())
        tokens.set(`token-${request.seq}`, { name: request.name, until, completed: null })
        return activation.settleRequest(request, { ok: true, text: JSON.stringify({ id: `${runId}:${request.seq}` }) })
      })
      const id = String(readField(created, "id"))
      const text = `token-${id.slice(id.lastIndexOf(":") + 1)}`
      return { url: `https://weft.test/tokens/${text}`, token: text, id }
    },
    waitForToken: async (given: unknown) => {
      const text = String(typeof given === "string" ? given : readField(given, "token"))
      const token = tokens.get(text)
      if (token === undefined) throw new TypeError("svc.waitForToken takes a token that svc.createToken returned")
      return activation.request("waitForToken", { kind: "completion", name: token.name }, {}, async (request) => {
        const wait = newWait(context, request, { until: token.until, completionOf: text })
        context.onWait(wait)
        return activation.wait(wait)
      })
    }
  }
}

/** In the body of a step, `invoke` and `call` are those of every function. */
const makeChildren = ({ activation, invoke, plain }: MethodsContext) => {
  const isInBody = () => typeof currentZone()?.body === "string"
  return {
    invoke: async (fn: unknown, args?: unknown, options?: unknown) => {
      if (isInBody()) return plain.invoke(String(fn), args)
      const name = readField(options, "name") ?? String(fn).slice(0, 256)
      return activation.request("invoke", { kind: "run", name }, { fn, args }, async (request) =>
        activation.settleRequest(request, await invoke(String(fn), args))
      )
    },
    call: async (fn: unknown, args?: unknown) =>
      isInBody()
        ? plain.call(String(fn), args)
        : activation.request("call", { kind: "call", name: fn }, { args }, async (request) => {
            const text = JSON.stringify(await plain.call(request.name, args))
            return activation.settleRequest(request, { ok: true, text })
          })
  }
}

const readField = (options: unknown, name: string): unknown =>
  typeof options === "object" && options !== null ? Reflect.get(options, name) : undefined
