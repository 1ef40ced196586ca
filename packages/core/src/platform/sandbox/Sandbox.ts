/**
 * The seam between the runtime and the engine that runs guest code.
 *
 * The runtime passes text in and receives text; no reference and no guest object crosses the seam. Bundles are stored
 * as opaque artifacts made by the engine: source, source map and code cache. Artifacts are authenticated, so storage
 * need not be trusted.
 */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { BuildId, EnvId, RunId } from "../../foundation/Ids.ts"
import { stackless } from "../../foundation/Stackless.ts"
import type { Execution } from "./Outcome.ts"
import type { RequestBody } from "./RequestBody.ts"

/** A build is invalid. `reason` names the file or function and the fault, for its author. */
export class BundleRejected extends Schema.TaggedError<BundleRejected>()("BundleRejected", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The sandbox cannot run code at the moment. Retry after a pause. */
export class SandboxUnavailable extends Schema.TaggedError<SandboxUnavailable>()("SandboxUnavailable", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The sandbox is not available: ${this.reason}`
  }
}

/** A function of a bundle. `ns` is `main` for exports that are functions themselves (decisions 5.1). */
export interface FunctionRef {
  readonly ns: string
  readonly var: string
}

/** An exported function, found by loading the bundle. `meta` is its property of that name as JSON, or undefined. */
export interface ExportedFunction extends FunctionRef {
  readonly meta: Schema.Json | undefined
}

/** A compiled bundle. The bytes are opaque: store them and pass them back. */
export interface Prepared {
  readonly functions: ReadonlyArray<ExportedFunction>
  readonly artifact: Uint8Array
  /** The compiled code as text, in which uses of capabilities are found; without it, none are. */
  readonly code?: string
}

/** The bundle of an invocation. An engine keeps one warm isolate per environment and build. */
export interface BundleRef {
  readonly env_id: EnvId
  readonly build_id: BuildId
  /** Called only if the engine has not cached the bundle. */
  readonly artifact: Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
  /** Prepares the artifact again. Called if the engine refuses it, because another engine or another key made it. */
  readonly renewed: Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
  /** True if the isolate serves one invocation only and then ends. */
  readonly isSingleUse?: boolean
  /**
   * True if the state of the isolate must last between invocations, so that nothing replaces it. It ends by `release`, by
   * its own fault, or when memory is short. A later invocation then has a fresh isolate.
   */
  readonly keepsState?: boolean
  /**
   * Id under which incidents of the bundle count and put it under quarantine; `build_id` by default. Sources of one
   * environment share one, because an author may change a source at will.
   */
  readonly strike_id?: BuildId
}

/** Source text that was not deployed. */
export interface SourceText {
  /**
   * TypeScript or JavaScript: an expression; or the body of an async function with the variable `args`; or a module
   * whose default export is a function. Invocations call it as `main/default`, with the elements of `args`.
   */
  readonly text: string
  /** Zip of the build that the source can import as `weft:build`; null without one. */
  readonly build: Uint8Array | null
}

/**
 * Namespace of the functions of a session's program. `open()` is first. `input(number, script)` evaluates an input, and
 * `complete(source, cursor)` returns names. Without `open` in the same isolate, both return `{ lost: true }`.
 */
export const sessionNamespace = "weft:session"

/** A bundle that was just prepared. */
export interface FreshBundle {
  readonly env_id: EnvId
  readonly build_id: BuildId
  readonly artifact: Uint8Array
}

/** The stored zip of a bundle. */
export interface StoredZip {
  readonly build_id: BuildId
  /** Storage path. Unique to this zip, unlike build ids, which clients choose and may reuse. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** Reads the bytes from `start` (0-based) up to but not including `end`. */
  readonly read: (range: {
    readonly start: number
    readonly end: number
  }) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable>, NotFound | StoreUnavailable, Scope.Scope>
}

/** A file of a bundle. */
export interface BundleFile {
  /** In bytes. */
  readonly size: number
  /** CRC-32 recorded in the zip. */
  readonly crc32: number
  readonly bytes: Stream.Stream<Uint8Array, StoreUnavailable>
}

/** A guest's call to its host. `op` names a row of the host-call table; `payload` is JSON text. Untrusted. */
export interface HostCall {
  readonly op: string
  readonly payload: string
}

/** A host call that is not allowed or not valid. It rejects the guest's promise. */
export class HostCallRefused extends Schema.TaggedError<HostCallRefused>()("HostCallRefused", {
  name: Schema.String,
  message: Schema.String
}) {}

export const LogLevel = Schema.Literals(["debug", "info", "warn", "error"])
export type LogLevel = typeof LogLevel.Type

/** Returns a refusal without a stack trace. */
export const hostCallRefused = (name: string, message: string): HostCallRefused =>
  stackless(() => new HostCallRefused({ name, message }, { disableChecks: true }))

/** A log line of a guest. `data` is JSON text or null. */
export interface GuestLog {
  readonly level: LogLevel
  readonly message: string
  readonly data: string | null
  /** Epoch milliseconds when the host received it. */
  readonly time: number
}

export interface Invocation {
  readonly run_id: RunId
  readonly bundle: BundleRef
  readonly fn: FunctionRef
  /** JSON text of an object, the facts that become `svc`. `trigger` names the fact that is the first argument. */
  readonly svc: string
  /** With `request`: its body. `svc` contains `null` and an empty text in its place; see `bodyFacts`. */
  readonly body?: RequestBody
  /**
   * - `event`, `request`, `tick`, `tool`, `resource`, `prompt`: the function is called with that property of `svc`, then `svc` itself.
   * - `args`: the function is called with the elements of the array `args` of `svc`, and nothing else.
   *
   * With `request` a returned response object becomes `Responded`.
   */
  readonly trigger: "event" | "request" | "tick" | "args" | "tool" | "resource" | "prompt" | "batch"
  /** Wall time. */
  readonly timeoutMs: number
  /**
   * Maximum time in the queue that does not count towards `timeoutMs`, in milliseconds, for runs without a waiting
   * caller. By default time in the queue counts.
   */
  readonly queueTimeoutMs?: number
  /**
   * Of durable functions: texts for the kernel, each passed to it after the microtasks of the previous one. See
   * `docs/design/durable.md`.
   */
  readonly replay?: ReadonlyArray<string>
  readonly onHostCall: (call: HostCall) => Effect.Effect<string, HostCallRefused>
  readonly onLog: (line: GuestLog) => void
}

/** A build that no longer runs on this node, because it repeatedly ended the process that executed it. */
export interface Quarantine {
  readonly env_id: EnvId
  readonly build_id: BuildId
  /** Description of the last incident, for operators. Contains no text of the guest. */
  readonly reason: string
  /** Number of incidents. */
  readonly strikes: number
}

/** State of an engine, for metrics. */
export interface SandboxStatus {
  /** Number of unexpected deaths of runner processes since the start, by cause. The causes are a few fixed words. */
  readonly runnerDeaths: ReadonlyMap<string, number>
  /** Number of builds under quarantine on this node. */
  readonly quarantined: number
}

export class Sandbox extends Context.Service<
  Sandbox,
  {
    /**
     * Validates an uploaded zip without running it: its format, its sizes, its entry names, and that it contains
     * `index.js`. Streams the entries and never holds the unpacked files. Does not modify or keep `zip`.
     */
    readonly check: (zip: Uint8Array) => Effect.Effect<void, BundleRejected>

    /**
     * Converts a valid zip to an artifact: parses and compiles it within `Limits.compileMs`, and loads it in a fresh
     * isolate within `Limits.loadMs`. Returns its exported functions with their `meta` as well, ordered by ns, then var.
     */
    readonly prepare: (zip: Uint8Array) => Effect.Effect<Prepared, BundleRejected | SandboxUnavailable>

    /**
     * Compiles a source to an artifact, without running it. `BundleRejected` contains line and column of a syntax error.
     */
    readonly compileSource: (source: SourceText) => Effect.Effect<Uint8Array, BundleRejected | SandboxUnavailable>

    /**
     * Compiles the program of a session, which evaluates inputs and keeps their names. `build` is the zip that its inputs
     * can import as `weft:build`; null without one. Its bundle needs `keepsState`.
     */
    readonly compileSession: (
      build: Uint8Array | null
    ) => Effect.Effect<Uint8Array, BundleRejected | SandboxUnavailable>

    /**
     * Converts one input of a session to JavaScript. `BundleRejected` contains line and column of a syntax error, and ends
     * with `Unexpected end of the input` if more text may complete it.
     */
    readonly prepareInput: (text: string) => Effect.Effect<string, BundleRejected | SandboxUnavailable>

    /** Ends the isolate of a bundle with `keepsState`, and forgets the bundle. It runs nothing. */
    readonly release: (bundle: BundleRef) => Effect.Effect<void>

    /**
     * Runs one function to its end. Interrupting the effect cancels the run, even in a CPU loop, and returns when the
     * guest can no longer act. Fails with `NotFound` if the build was deleted. Waits for capacity for at most
     * `timeoutMs`, or for about `queueTimeoutMs` if that is longer.
     */
    readonly invoke: (
      invocation: Invocation
    ) => Effect.Effect<Execution, SandboxUnavailable | NotFound | StoreUnavailable>

    /**
     * Opens a file of a valid zip by its name. Returns null if the zip has no such file. Reads only the necessary ranges
     * of the zip and caches its directory for a while.
     */
    readonly openFile: (zip: StoredZip, name: string) => Effect.Effect<BundleFile | null, StoreUnavailable>

    /**
     * Loads a bundle that was just prepared, if the engine can, so that its first invocation is as fast as later ones.
     * Ends when the bundle is loaded, and soon in any case. Failures are reported to the first invocation.
     */
    readonly warm: (bundle: FreshBundle) => Effect.Effect<void>

    /** Lifts the quarantine of a build on this node, if there is one. */
    readonly clearQuarantine: (buildId: BuildId) => Effect.Effect<void>

    /** Waits for the next quarantine on this node, and returns each one once. Engines without quarantine never return. */
    readonly nextQuarantine: Effect.Effect<Quarantine>

    readonly status: Effect.Effect<SandboxStatus>
  }
>()("@weft/core/platform/sandbox/Sandbox") {}
