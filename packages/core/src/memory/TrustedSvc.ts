/** The `svc` of a trusted function (decisions 5.3): the facts of the invocation and the host's operations. */
import { bodyFacts } from "../platform/sandbox/RequestBody.ts"
import type { GuestLog, Invocation, LogLevel } from "../platform/sandbox/Sandbox.ts"
import type { SvcMethods } from "../runtime/svc/SvcMethods.ts"
import { type DurableFact, TrustedDurable } from "./TrustedDurable.ts"
import { type TrustedContent, type TrustedFiles, trustedAsset, trustedFiles } from "./TrustedFiles.ts"
import { type TrustedHost, trustedHost } from "./TrustedHost.ts"
import { trustedMethods } from "./TrustedMethods.ts"

// Every runtime has it, but TypeScript declares it only with a platform's types.
declare const AbortController: new () => { readonly signal: unknown; readonly abort: () => void }

/**
 * The `svc` of a trusted function: the methods that derive from the table of operations, those by hand, and the facts
 * (`run`, `event`, `request`, …).
 */
export interface TrustedSvc extends SvcMethods, Readonly<Record<string, unknown>> {
  /** The files of the environment. */
  readonly files: TrustedFiles
  /** A file of the build. Always null, because a trusted module has no files. */
  readonly asset: (name: string) => Promise<TrustedContent | null>
  /** The functions of the host: `svc.host.crm.lookup(input)`. */
  readonly host: TrustedHost
  /** Calls `ns/var` of the same module, in this run. */
  readonly invoke: (fn: string, args: ReadonlyArray<unknown>) => Promise<unknown>
  readonly log: Readonly<Record<LogLevel, (message: string, data?: unknown) => void>>
  /** Aborted when the run has ended. */
  readonly signal: unknown
}

export interface SvcHost {
  /** Resolves after all microtasks. */
  readonly turn: () => Promise<void>
  /** Ends the run with an error that its code cannot catch. */
  readonly end: (error: Error) => void
  readonly time: () => number
  /** Resolves after the time. */
  readonly sleep: (ms: number) => Promise<void>
  /** Makes a host call; JSON text in and out. */
  readonly call: (op: string, payload: string) => Promise<string>
  readonly invoke: TrustedSvc["invoke"]
}

export interface SvcHandle {
  /** Gives recorded results to a durable function. */
  readonly replay: () => void
  /** Returns the error of the run after its function failed or returned; null if it succeeded. */
  readonly conclude: (failure: { readonly error: unknown } | null) => Promise<{ readonly error: unknown } | null>
  /** Arguments of the function. */
  readonly args: ReadonlyArray<unknown>
  readonly svc: TrustedSvc
  /** Ends the run: later host calls are refused and later logs are dropped. */
  readonly close: () => void
}

export const makeSvc = (invocation: Invocation, meta: unknown, host: SvcHost): SvcHandle => {
  const facts = readFacts(invocation)
  const controller = new AbortController()
  let isOpen = true

  const callHost = async (op: string, payload: unknown): Promise<unknown> => {
    if (!isOpen) throw new Error("The run has ended")
    durable?.checkCall(op)
    return JSON.parse(await host.call(op, JSON.stringify(payload)))
  }
  let isMuted = false
  const log = (level: LogLevel) => (message: string, data?: unknown) => {
    if (isOpen && !isMuted) invocation.onLog(logLine(level, message, data, host.time()))
  }
  const methods = trustedMethods(callHost)
  const durable = isDurable(facts.durable)
    ? new TrustedDurable(facts.durable, isStrict(meta), {
        ...{ runId: invocation.run_id, turn: host.turn, end: host.end, invoke: host.invoke },
        ...{ time: host.time, sleep: host.sleep },
        // A durable function that was stopped makes no further request.
        call: (op, payload) => (isOpen ? host.call(op, payload) : new Promise<string>(() => undefined)),
        callPlain: (fn, args) => methods.call(fn, args),
        log: (level, message) => log(level)(message),
        mute: (muted) => {
          isMuted = muted
        }
      })
    : null
  const svc: TrustedSvc = {
    ...facts,
    ...methods,
    files: trustedFiles(callHost),
    asset: (name) => trustedAsset(callHost, name),
    invoke: host.invoke,
    host: trustedHost(async (name, input) => {
      if (!isOpen) throw new Error("The run has ended")
      durable?.checkCall(`host.${name}`)
      const answer = await host.call(`host.${name}`, JSON.stringify(input) ?? "")
      return answer === "" ? undefined : JSON.parse(answer)
    }),
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    signal: controller.signal,
    ...(durable === null ? {} : durable.svc)
  }
  return {
    args: toArguments(invocation, facts, svc, durable !== null),
    svc,
    replay: () => void durable?.replay(invocation.replay ?? []),
    conclude: (failure) => (durable === null ? Promise.resolve(failure) : durable.conclude(failure)),
    close: () => {
      isOpen = false
      controller.abort()
    }
  }
}

/** Parses the facts of the run and inserts the body into the request. */
const readFacts = ({ svc, body }: Invocation): Record<string, unknown> => {
  const facts: Record<string, unknown> & { request?: Record<string, unknown> } = JSON.parse(svc)
  if (body !== undefined) Object.assign(facts.request ?? {}, bodyFacts(body, facts.request?.body))
  return facts
}

const logLine = (level: LogLevel, message: string, data: unknown, time: number): GuestLog => ({
  level,
  message: String(message),
  data: JSON.stringify(data) ?? null,
  time
})

/** Returns the arguments. A durable function that is called by its name receives at least one, then `svc`. */
const toArguments = (
  { trigger }: Invocation,
  facts: Readonly<Record<string, unknown>>,
  svc: TrustedSvc,
  isDurableRun: boolean
): ReadonlyArray<unknown> => {
  if (trigger !== "args") return [facts[trigger], svc]
  const args = elements(facts.args)
  if (!isDurableRun) return args
  return args.length === 0 ? [undefined, svc] : [...args, svc]
}

const elements = (args: unknown): ReadonlyArray<unknown> => (Array.isArray(args) ? args : [])

/** True for the fact of a durable run, which the runtime made. */
const isDurable = (fact: unknown): fact is DurableFact => typeof fact === "object" && fact !== null

/** True if the `meta` of a durable function refuses effects outside of steps. */
const isStrict = (meta: unknown): boolean => {
  const { durable } = Object(meta ?? {})
  return typeof durable === "object" && Object(durable ?? {}).strict === true
}
