/**
 * The first code in every isolate. The runner calls only this code, and all output passes through it.
 *
 * Text enters through `enter`, one call per message of one run. Text leaves through `drain`, once for all messages of an
 * entry. The microtasks of a message finish before the next one, so `currentRun` holds across awaits.
 */
import type { Bridge } from "../Bridge.ts"
import { Computations } from "./Computations.ts"
import { Durable, type DurableFact } from "./Durable.ts"
import { describeExports, findFunction, registerExports } from "./Exports.ts"
import { describeThrown, namedError } from "./failures.ts"
import { parseForm } from "./form.ts"
import { drain as drainOutbox, emit, limitOutput } from "./OutputBuffer.ts"
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
  NativeSet,
  NativeUint8Array,
  parse,
  resolve,
  setAdd,
  setForEach,
  setSize,
  stringify,
  whenSettled
} from "./primordials.ts"
import { addRun, currentRun, enterRun, findRun, type KernelLimits, Run } from "./Run.ts"
import { Svc } from "./Svc.ts"
import { makeSettlement } from "./settle.ts"
import { appendSvc } from "./toArguments.ts"

/** The functions that the runner references. */
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
  /** Called once after the bundle ran. Returns JSON text: its exports, [] without `describe`, or after "!" an error. */
  readonly report: (describe: boolean) => string
  /** The platform's modules. The runner passes them to the optional script, before the bundle runs. */
  readonly platform: object
}

const triggerNames = ["event", "request", "tick", "args", "tool", "resource", "prompt", "batch"]

/** Kinds of messages to `enter`. The runner uses the same numbers. */
const messageKinds = { invoke: 0, resolve: 1, reject: 2, timer: 3, stop: 4 }

/** Id of the host call whose answers are the recorded results of a durable run. Real ids start at 1. */
const replayCall = 0

/** Kinds of the `body` of a request. The runner uses the same numbers. */
const bodyKinds = { none: 0, json: 1, text: 2, given: 3, form: 4 }

interface InvocationData {
  readonly request?: Request
  readonly run: { readonly run_id: string }
  readonly durable?: DurableFact
}

/** A request of the invocation. Both are own properties, so that no setter of the guest is called. */
interface Request {
  body: unknown
  "body-raw": string
}

const addBody = (request: Request, kind: number, text: string): void => {
  request["body-raw"] = text
  if (kind === bodyKinds.text) request.body = text
  if (kind === bodyKinds.json) request.body = jsonOrText(text)
  if (kind === bodyKinds.form) request.body = parseForm(text)
}

const jsonOrText = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return text
  }
}

/**
 * Installs kernel and platform, and returns the functions for the runner.
 *
 * The runner reads the shared memory `progress` during an entry: [id of the computing run, messages entered so far].
 */
export const boot = (
  install: (bridge: Bridge) => object,
  progress: Int32Array,
  limitsText: string,
  entropyText: string
): Kernel => {
  const limits: KernelLimits = parse(limitsText)
  limitOutput(limits.outboxLength)
  const timerOwners = new NativeMap<number, Run>()
  /** Durable runs of this entry. */
  let entered = new NativeSet<Durable>()
  const computations = new Computations(limits)
  const bridge = makeBridge(timerOwners, entropyText, limits, computations)
  const platform = install(bridge)
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
      const data: InvocationData = parse(svcText)
      if (bodyKind !== bodyKinds.none && data.request !== undefined) addBody(data.request, bodyKind, body)
      const svc = new Svc(run, data, bridge)
      run.svc = svc
      const target = findFunction(fn)
      if (data.durable !== undefined) {
        run.durable = new Durable(run, data.run.run_id, data.durable, isStrict(target), (error) => fail(run, error))
        setAdd(entered, run.durable)
      }
      const name = triggerNames[trigger] ?? "event"
      const argument = getProperty(data, name)
      const args = name === "args" ? (isArray(argument) ? argument : []) : [argument, svc]
      const isCalledDurable = name === "args" && run.durable !== undefined
      const result = apply(target, undefined, isCalledDurable ? appendSvc(args, svc) : args)
      if (typeof result === "object" && result !== null) {
        whenSettled(
          resolve(result),
          (value) => conclude(run, value),
          (thrown) => failUndone(run, thrown)
        )
      } else {
        conclude(run, result)
      }
    } catch (thrown) {
      failUndone(run, thrown)
    }
  }

  const conclude = (run: Run, value: unknown): void => {
    const { durable } = run
    if (durable !== undefined && !durable.checkEnd()) return
    if (durable?.mustUndo(false) === true) failUndone(run, namedError("Cancelled", "The run was cancelled"))
    else succeed(run, value)
  }

  /** Fails the run after the steps of a durable function were undone. */
  const failUndone = (run: Run, thrown: unknown): void => {
    const { durable } = run
    if (durable === undefined || !durable.mustUndo(true)) {
      if (durable?.isUnwinding !== true) fail(run, thrown)
      return
    }
    const end = (error: unknown) => fail(run, error)
    whenSettled(durable.unwind(thrown), end, end)
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
    if (run.durable !== undefined) setAdd(entered, run.durable)
    try {
      if (kind === messageKinds.resolve) {
        if (a === replayCall) run.durable?.replay(text)
        else run.settleCall(a, true, text, detail)
      } else if (kind === messageKinds.reject) run.settleCall(a, false, text, detail)
      else if (kind === messageKinds.stop) stop(run, text)
      else if (run.takeTimer(a)) {
        mapDelete(timerOwners, a)
        bridge.onTimer(a)
      }
    } catch (thrown) {
      failUndone(run, thrown)
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
    computations.isShared = false
    progress[0] = id
    progress[1] = (progress[1] ?? 0) + 1
    if (kind === messageKinds.invoke) return invoke(id, a, text, detail, bodyKind, body)
    const run = findRun(id)
    if (run !== undefined) resume(kind, run, a, text, detail)
    if (kind === messageKinds.stop) emit("A", id, 0, 0, "", "")
  }

  const drain = (): string => {
    measure()
    if (setSize(entered) > 0) {
      setForEach(entered, (durable) => durable.checkIdle())
      entered = new NativeSet()
    }
    enterRun(undefined)
    computations.request()
    progress[0] = 0
    return drainOutbox()
  }

  return { enter, drain, report, platform }
}

const makeBridge = (
  timerOwners: Map<number, Run>,
  entropyText: string,
  limits: KernelLimits,
  computations: Computations
): Bridge => {
  const started = dateNow()
  const entropy: ReadonlyArray<number> = parse(entropyText)
  const outside = {}
  const bytes = new NativeUint8Array(entropy.length)
  for (let at = 0; at < entropy.length; at++) bytes[at] = entropy[at] ?? 0
  return {
    startTimer: (timer, ms) => {
      const run = currentRun()
      if (run === undefined || run.ended) return
      run.startTimer(timer, clampDelay(ms))
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
    callBytes: limits.hostCallBytes,
    compute: (request, bytes) => {
      const run = computations.isShared ? undefined : currentRun()
      return run === undefined ? computations.add(request, bytes) : run.compute(request, bytes)
    },
    computeBytes: limits.cryptoBytes,
    scope: () => currentRun()?.scope ?? outside,
    entropy: bytes,
    now: () => dateNow() - started
  }
}

/** True if the `meta` of a durable function refuses effects outside of steps. */
const isStrict = (target: object): boolean => {
  try {
    const read = (from: unknown, name: string): unknown =>
      typeof from === "object" && from !== null ? getProperty(from, name) : undefined
    return read(read(getProperty(target, "meta"), "durable"), "strict") === true
  } catch {
    return false
  }
}

/** Returns whole milliseconds in the range of the host's timers: 1 to 2^31 - 1. */
const clampDelay = (ms: number): number => (ms >= 1 ? (ms > 2147483647 ? 2147483647 : ms - (ms % 1)) : 1)

/**
 * Installs the loader: the bundle is `__weft_load(() => namespace)`. No error of the bundle may leave as a thrown value,
 * because the engine would read its properties outside of all time limits.
 */
const installLoader = (limits: KernelLimits): Kernel["report"] => {
  let failure: string | undefined = stringify(["Error", "the bundle did not finish loading", ""])
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
