/**
 * The first code in every isolate: the only thing the runner ever calls, and the only way out.
 *
 * Text goes in by `enter`, one call for each message, each for one run; text comes out by `drain`, once for all
 * entries of a turn. Microtasks of an entry finish before the next begins, so `currentRun` holds across awaits.
 */
import type { Bridge } from "../Bridge.ts"
import { describeExports, findFunction, registerExports } from "./Exports.ts"
import { describeThrown } from "./failures.ts"
import { drain as drainOutbox, emit, limitOutbox } from "./Outbox.ts"
import {
  apply,
  dateNow,
  defineProperty,
  deleteProperty,
  getProperty,
  isArray,
  mapDelete,
  mapGet,
  mapSet,
  NativeMap,
  NativeUint8Array,
  parse,
  resolve,
  stringify,
  whenSettled
} from "./primordials.ts"
import { addRun, currentRun, enterRun, findRun, type KernelLimits, Run } from "./Run.ts"
import { Svc } from "./Svc.ts"
import { makeSettlement } from "./settle.ts"

/** The functions that the runner holds on to. */
export interface Kernel {
  readonly enter: (
    kind: number,
    run: number,
    a: number,
    text: string,
    detail: string,
    bodyKind: number,
    body: string
  ) => void
  readonly drain: () => string
  /** Called once after the bundle ran: JSON text of its exports, of [] unless asked for, or of an error's parts. */
  readonly report: (describe: boolean) => string
}

const triggerNames = ["event", "request", "tick", "args", "tool"]

/** What `enter` is asked to do. The runner knows the same numbers. */
const entries = { invoke: 0, answer: 1, refuse: 2, timer: 3, stop: 4 }

/** What `body` of a request is made of. The runner knows the same numbers. */
const bodyKinds = { none: 0, json: 1, text: 2, given: 3 }

interface Facts {
  readonly request?: Request
}

/** Both are there as properties of its own, so that no setter of the guest's is met. */
interface Request {
  body: unknown
  "body-raw": string
}

const addBody = (request: Request, kind: number, text: string): void => {
  request["body-raw"] = text
  if (kind === bodyKinds.text) request.body = text
  if (kind === bodyKinds.json) request.body = jsonOrText(text)
}

const jsonOrText = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return text
  }
}

/**
 * Installs kernel and platform; returns what the runner holds. `mark` is memory that the runner reads while an entry
 * goes on: [the run that computes, entries begun so far].
 */
export const boot = (
  install: (bridge: Bridge) => void,
  mark: Int32Array,
  limitsText: string,
  entropyText: string
): Kernel => {
  const limits: KernelLimits = parse(limitsText)
  limitOutbox(limits.outboxLength)
  const timerOwners = new NativeMap<number, Run>()
  const bridge = makeBridge(timerOwners, entropyText, limits.hostCallBytes)
  install(bridge)
  const dropTimer = (timer: number): void => {
    mapDelete(timerOwners, timer)
    bridge.onTimerDropped?.(timer)
  }
  const { succeed, fail } = makeSettlement(limits, (run) => run.end(dropTimer))
  defineProperty(globalThis, "svc", { get: () => currentRun()?.svc, configurable: true, enumerable: false })
  const report = installLoader(limits)

  const invoke = (id: number, trigger: number, fn: string, svcText: string, bodyKind: number, body: string): void => {
    const run = new Run(id, fn, trigger === 1, limits)
    addRun(run)
    enterRun(run)
    try {
      const facts: Facts = parse(svcText)
      if (bodyKind !== bodyKinds.none && facts.request !== undefined) addBody(facts.request, bodyKind, body)
      const svc = new Svc(run, facts, bridge)
      run.svc = svc
      const name = triggerNames[trigger] ?? "event"
      const argument = getProperty(facts, name)
      const result = apply(
        findFunction(fn),
        undefined,
        name === "args" ? (isArray(argument) ? argument : []) : [argument, svc]
      )
      if (typeof result === "object" && result !== null) {
        whenSettled(
          resolve(result),
          (value) => succeed(run, value),
          (thrown) => fail(run, thrown)
        )
      } else {
        succeed(run, result)
      }
    } catch (thrown) {
      fail(run, thrown)
    }
  }

  const stop = (run: Run, reason: string): void => {
    try {
      run.onStop?.(reason)
    } finally {
      run.end(dropTimer)
    }
  }

  const resume = (kind: number, run: Run, a: number, text: string, detail: string): void => {
    enterRun(run)
    try {
      if (kind === entries.answer) run.answer(a, true, text, detail)
      else if (kind === entries.refuse) run.answer(a, false, text, detail)
      else if (kind === entries.stop) stop(run, text)
      else if (run.takeTimer(a)) {
        mapDelete(timerOwners, a)
        bridge.onTimer(a)
      }
    } catch (thrown) {
      fail(run, thrown)
    }
  }

  let since = 0
  const measure = (): void => {
    const now = dateNow()
    const run = currentRun()
    if (run !== undefined && now > since) emit("W", run.id, now - since, 0, "", "")
    since = now
  }

  const enter: Kernel["enter"] = (kind, id, a, text, detail, bodyKind, body) => {
    measure()
    mark[0] = id
    mark[1] = (mark[1] ?? 0) + 1
    if (kind === entries.invoke) return invoke(id, a, text, detail, bodyKind, body)
    const run = findRun(id)
    if (run !== undefined) resume(kind, run, a, text, detail)
    if (kind === entries.stop) emit("A", id, 0, 0, "", "")
  }

  const drain = (): string => {
    measure()
    enterRun(undefined)
    mark[0] = 0
    return drainOutbox()
  }

  return { enter, drain, report }
}

const makeBridge = (timerOwners: Map<number, Run>, entropyText: string, callBytes: number): Bridge => {
  const started = dateNow()
  const entropy: ReadonlyArray<number> = parse(entropyText)
  const bytes = new NativeUint8Array(entropy.length)
  for (let at = 0; at < entropy.length; at++) bytes[at] = entropy[at] ?? 0
  return {
    startTimer: (timer, ms) => {
      const run = currentRun()
      if (run === undefined || run.ended) return
      run.startTimer(timer, delayOf(ms))
      mapSet(timerOwners, timer, run)
    },
    stopTimer: (timer) => {
      const run = mapGet(timerOwners, timer)
      if (run === undefined) return
      mapDelete(timerOwners, timer)
      run.stopTimer(timer)
    },
    onTimer: () => undefined,
    log: (level, message, data) => currentRun()?.log(level, message, data),
    caller: () => {
      const run = currentRun()
      return run === undefined ? undefined : (op, payload) => run.call(op, payload)
    },
    callBytes,
    entropy: bytes,
    now: () => dateNow() - started
  }
}

/** Whole milliseconds as the host's timers take them: 1 to 2^31 - 1. */
const delayOf = (ms: number): number => (ms >= 1 ? (ms > 2147483647 ? 2147483647 : ms - (ms % 1)) : 1)

/**
 * The bundle is `__weft_load(() => namespace)`. Nothing it throws may leave as a thrown value: the engine would read
 * its properties outside of every time limit.
 */
const installLoader = (limits: KernelLimits): Kernel["report"] => {
  let failure: string | undefined = stringify(["Error", "the bundle did not run to its end", ""])
  const load = (factory: () => object): void => {
    deleteProperty(globalThis, "__weft_load")
    try {
      registerExports(factory())
      failure = undefined
    } catch (thrown) {
      failure = describeThrown(thrown)
    }
  }
  defineProperty(globalThis, "__weft_load", { value: load, configurable: true })
  return (describe) => {
    if (failure !== undefined) return `!${failure}`
    if (!describe) return "[]"
    try {
      return describeExports(limits)
    } catch (thrown) {
      return `!${describeThrown(thrown)}`
    }
  }
}
