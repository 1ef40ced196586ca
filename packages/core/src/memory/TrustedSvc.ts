/** The `svc` of a trusted function (decisions 5.3): the facts of the invocation and what the host offers. */
import { bodyFacts } from "../sandbox/RequestBody.ts"
import type { GuestLog, Invocation, LogLevel } from "../sandbox/Sandbox.ts"
import { type TrustedContent, type TrustedFiles, trustedAsset, trustedFiles } from "./TrustedFiles.ts"
import { type TrustedHost, trustedHost } from "./TrustedHost.ts"

// As in every runtime; TypeScript declares it only together with a platform.
declare const AbortController: new () => { readonly signal: unknown; readonly abort: () => void }

/** What a trusted function may expect besides the facts (`run`, `event`, `request`, …). */
export interface TrustedSvc extends Readonly<Record<string, unknown>> {
  /** The secrets of the project. */
  readonly context: {
    /** Null when there is none. */
    readonly get: (key: string) => Promise<unknown>
    readonly all: () => Promise<unknown>
  }
  /** The files of the environment. */
  readonly files: TrustedFiles
  /** A file of the build; what stands for a zip here has none. */
  readonly asset: (name: string) => Promise<TrustedContent | null>
  readonly events: {
    readonly publish: (event: {
      readonly type: string
      readonly data: unknown
      readonly stream_id?: string
      /** As in `meta`, such as `"90s"`, or milliseconds. */
      readonly delay?: string | number
    }) => Promise<unknown>
  }
  /** Calls a function in the background. */
  readonly call: (fn: string, args?: ReadonlyArray<unknown>) => Promise<unknown>
  readonly schedules: {
    readonly create: (schedule: {
      readonly fn: string
      readonly args?: ReadonlyArray<unknown>
      readonly schedule: string
      readonly timezone?: string
    }) => Promise<unknown>
    readonly cancel: (schedule: { readonly id: string } | { readonly fn: string }) => Promise<unknown>
  }
  /** The functions of the host: `svc.host.crm.lookup(input)`. */
  readonly host: TrustedHost
  /** Tells those who watch the stream of the run. */
  readonly stream: { readonly emit: (data_type: string, payload: unknown) => Promise<unknown> }
  /** Calls `ns/var` of the same module, in this run. */
  readonly invoke: (fn: string, args: ReadonlyArray<unknown>) => Promise<unknown>
  readonly log: Readonly<Record<LogLevel, (message: string, data?: unknown) => void>>
  /** Aborted when the run is over. */
  readonly signal: unknown
}

export interface SvcHost {
  readonly time: () => number
  /** Makes a host call; JSON text in and out. */
  readonly ask: (op: string, payload: string) => Promise<string>
  readonly invoke: TrustedSvc["invoke"]
}

export interface HostedSvc {
  /** What the function is to be called with. */
  readonly args: ReadonlyArray<unknown>
  /** Ends the run: host calls are refused and logs dropped from now on. */
  readonly close: () => void
}

export const hostedSvc = (invocation: Invocation, host: SvcHost): HostedSvc => {
  const facts = factsOf(invocation)
  const controller = new AbortController()
  let isOpen = true

  const ask = async (op: string, payload: unknown): Promise<unknown> => {
    if (!isOpen) throw new Error("The run is over")
    return JSON.parse(await host.ask(op, JSON.stringify(payload)))
  }
  const log = (level: LogLevel) => (message: string, data?: unknown) => {
    if (isOpen) invocation.onLog(logLine(level, message, data, host.time()))
  }
  const svc: TrustedSvc = {
    ...facts,
    context: { get: (key) => ask("context.get", { key }), all: () => ask("context.all", {}) },
    files: trustedFiles(ask),
    asset: (name) => trustedAsset(ask, name),
    events: { publish: (event) => ask("events.publish", event) },
    call: (fn, args = []) => ask("call", { fn, args }),
    schedules: {
      create: (schedule) => ask("schedules.create", schedule),
      cancel: (schedule) => ask("schedules.cancel", schedule)
    },
    invoke: host.invoke,
    host: trustedHost(async (name, input) => {
      if (!isOpen) throw new Error("The run is over")
      const answer = await host.ask(`host.${name}`, JSON.stringify(input) ?? "")
      return answer === "" ? undefined : JSON.parse(answer)
    }),
    stream: { emit: (data_type, payload) => ask("stream.emit", { data_type, payload }) },
    log: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    signal: controller.signal
  }
  return {
    args: invocation.trigger === "args" ? elements(facts.args) : [facts[invocation.trigger], svc],
    close: () => {
      isOpen = false
      controller.abort()
    }
  }
}

/** The facts of the run, with the body where it belongs. */
const factsOf = ({ svc, body }: Invocation): Record<string, unknown> => {
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

const elements = (args: unknown): ReadonlyArray<unknown> => (Array.isArray(args) ? args : [])
