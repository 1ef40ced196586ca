/** Evaluation of source text by hosts. */
import * as core from "@weft/core"
import { toLogEntry } from "./convert.ts"
import { rejecting } from "./errors.ts"
import { HostRefused } from "./hostFunction.ts"
import type { Json, LogEntry } from "./records.ts"

/** Capabilities of the code of an evaluation; it may do nothing else. */
export interface Capabilities {
  /**
   * Functions by name: `svc.host.shop.price(input)` calls `"shop.price"`. A function receives JSON, and returns JSON or a
   * promise of it. The code sees the name and message of a `HostRefused`, and of no other error.
   */
  readonly host?: Readonly<Record<string, (input: unknown) => unknown>>
  /** Hosts of `fetch`, such as `api.example.com`, `*.example.com` or `api.example.com:8443`. Redirects are errors. */
  readonly fetch?: ReadonlyArray<string>
  /** Files below a folder; `write` also allows changes. */
  readonly files?: { readonly prefix: string; readonly write?: boolean }
}

export interface EvaluateOptions {
  /** Elements of the variable `args`, or arguments of the default export. */
  readonly args?: ReadonlyArray<Json>
  /** Functions of the host, hosts of `fetch`, and files; none by default. */
  readonly capabilities?: Capabilities
  /** Wall time in milliseconds, at most 60,000; 1,000 by default. Memory and CPU have the limits of the sandbox. */
  readonly limits?: { readonly timeoutMs?: number }
  /** Cancels the evaluation. The promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal
  /** True to store a run with its log; by default it only counts in the usage. */
  readonly record?: boolean
}

/** The end of an evaluation. */
export type Evaluated = {
  readonly runId: string
  readonly logs: ReadonlyArray<LogEntry>
  readonly cpuMs: number
  readonly wallMs: number
  readonly heapBytes: number
} & (
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: { readonly name: string; readonly message: string; readonly stack: string } }
)

export const makeEvaluate =
  (env: core.WeftEnv) =>
  (source: string, { limits, signal, capabilities, ...options }: EvaluateOptions = {}): Promise<Evaluated> =>
    rejecting(async () => {
      const timeoutMs = limits?.timeoutMs
      const snippet: core.NewSnippet = {
        ...options,
        source,
        ...(capabilities === undefined ? {} : { capabilities: toCapabilities(capabilities) }),
        ...(timeoutMs === undefined ? {} : { timeoutMs })
      }
      return toEvaluated(await env.evaluate(snippet, signal))
    })

const toCapabilities = ({ host, ...others }: Capabilities): core.Capabilities =>
  host === undefined
    ? others
    : { ...others, host: Object.fromEntries(Object.entries(host).map(([name, fn]) => [name, refusing(fn)])) }

/** Converts a `HostRefused` of this package to that of the runtime. */
const refusing = (fn: (input: unknown) => unknown) => async (input: unknown) => {
  try {
    return await fn(input)
  } catch (error) {
    throw error instanceof HostRefused ? new core.HostRefused({ name: error.name, message: error.message }) : error
  }
}

const toEvaluated = ({ run, logs, outcome }: core.SnippetEnd): Evaluated => {
  const facts = {
    runId: run.run_id,
    // The first entry is that of the request.
    logs: logs.slice(1).map(toLogEntry),
    cpuMs: run.cpu_ms ?? 0,
    wallMs: run.wall_ms ?? 0,
    heapBytes: run.heap_bytes ?? 0
  }
  const result = JSON.parse(run.result ?? "null")
  return outcome._tag === "Returned"
    ? { ...facts, ok: true, value: result }
    : { ...facts, ok: false, error: result.error }
}
