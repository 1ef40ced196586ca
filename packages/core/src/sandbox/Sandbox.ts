/**
 * Where guest code runs.
 *
 * The seam between the runtime and an engine. The runtime hands over text and gets text back; nothing of
 * an engine, no reference, no guest object, ever passes it. Bundles travel as opaque `Artifact`s that the
 * engine made itself: source, source map and code cache, authenticated, so that storage is not trusted.
 */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { BuildId, EnvId, RunId } from "../ids/Ids.ts"
import type { Execution } from "./Outcome.ts"
import type { RequestBody } from "./RequestBody.ts"

/** A build cannot be used, by its author's fault. `reason` says which file or function and what is wrong. */
export class BundleRejected extends Schema.TaggedError<BundleRejected>()("BundleRejected", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The sandbox itself cannot run anything now. Worth another try after a pause. */
export class SandboxUnavailable extends Schema.TaggedError<SandboxUnavailable>()("SandboxUnavailable", {
  reason: Schema.String
}) {
  override get message(): string {
    return `The sandbox is not available: ${this.reason}`
  }
}

/** A function of a bundle: `ns` is `main` for exports that are functions themselves (decisions 5.1). */
export interface FunctionRef {
  readonly ns: string
  readonly var: string
}

/** An exported function as found by loading the bundle; `meta` is its property of that name as JSON, or undefined. */
export interface ExportedFunction extends FunctionRef {
  readonly meta: Schema.Json | undefined
}

/** What the engine made of a bundle. The bytes are opaque: keep them, hand them back. */
export interface Prepared {
  readonly functions: ReadonlyArray<ExportedFunction>
  readonly artifact: Uint8Array
}

/** Which bundle an invocation runs in; an engine keeps one warm isolate per (env, build). */
export interface BundleRef {
  readonly env_id: EnvId
  readonly build_id: BuildId
  /** Called only when the engine does not have the bundle at hand. */
  readonly artifact: Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
  /** Called when the engine refuses the artifact, because another engine or another key made it: one made anew. */
  readonly renewed: Effect.Effect<Uint8Array, NotFound | StoreUnavailable>
}

/** A bundle that was prepared just now. */
export interface FreshBundle {
  readonly env_id: EnvId
  readonly build_id: BuildId
  readonly artifact: Uint8Array
}

/** The zip of a bundle where it is stored. */
export interface StoredZip {
  readonly build_id: BuildId
  /** Where it is: no other zip is or was there, while ids are their clients' and may come again. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** The bytes from `start` (from 0) up to, not including, `end`. */
  readonly read: (range: {
    readonly start: number
    readonly end: number
  }) => Effect.Effect<Stream.Stream<Uint8Array, StoreUnavailable>, NotFound | StoreUnavailable, Scope.Scope>
}

/** A file of a bundle. */
export interface BundleFile {
  /** In bytes. */
  readonly size: number
  /** As the zip says. */
  readonly crc32: number
  readonly bytes: Stream.Stream<Uint8Array, StoreUnavailable>
}

/** What a guest asks of its host: `op` names a row of the host-call table, `payload` is JSON text. Hostile. */
export interface HostCall {
  readonly op: string
  readonly payload: string
}

/** The answer to a host call that the guest may not make or got wrong; it rejects the guest's promise. */
export class HostCallRefused extends Schema.TaggedError<HostCallRefused>()("HostCallRefused", {
  name: Schema.String,
  message: Schema.String
}) {}

export const LogLevel = Schema.Literals(["debug", "info", "warn", "error"])
export type LogLevel = typeof LogLevel.Type

/** One line that the guest logged, in order. `data` is JSON text or null. */
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
  /** JSON text of an object: the facts that become `svc`; `trigger` names the one that is the first argument. */
  readonly svc: string
  /** With `request`: its body, apart from `svc`, which has `null` and an empty text in its place; see `bodyFacts`. */
  readonly body?: RequestBody
  /**
   * - `event`, `request`, `tick`, `tool`: the function is called with that property of `svc`, then `svc` itself.
   * - `args`: the function is called with the elements of the array `args` of `svc`, and nothing else.
   *
   * With `request` a returned response object becomes `Responded`.
   */
  readonly trigger: "event" | "request" | "tick" | "args" | "tool"
  /** Wall time. */
  readonly timeoutMs: number
  /**
   * How long it may wait to begin, without that counting as its own time, in milliseconds: for what nobody waits for. By
   * default waiting counts.
   */
  readonly patienceMs?: number
  readonly onHostCall: (call: HostCall) => Effect.Effect<string, HostCallRefused>
  readonly onLog: (line: GuestLog) => void
}

export class Sandbox extends Context.Service<
  Sandbox,
  {
    /**
     * Checks an uploaded zip without running it: that it is one, its sizes, its entry names, that `index.js` is
     * there. Streams; never holds the unpacked files. `zip` stays the caller's.
     */
    readonly check: (zip: Uint8Array) => Effect.Effect<void, BundleRejected>

    /**
     * Turns a checked zip into an artifact: parses and compiles it within `Limits.compileMs`, loads it in a fresh isolate
     * within `Limits.loadMs`, and reads its exported functions with their `meta`, ordered by ns, then var.
     */
    readonly prepare: (zip: Uint8Array) => Effect.Effect<Prepared, BundleRejected | SandboxUnavailable>

    /**
     * Runs one function to its end. Interrupting the effect cancels the run: it preempts a CPU loop too, and
     * returns when the guest can no longer do anything. `NotFound` when the build is gone. Waits for capacity for
     * `timeoutMs` at most, and for about `patienceMs` where that is longer.
     */
    readonly invoke: (
      invocation: Invocation
    ) => Effect.Effect<Execution, SandboxUnavailable | NotFound | StoreUnavailable>

    /**
     * A file of a checked zip by its name there, null when there is none. Reads no more of the zip than it has to, and
     * keeps what it learned of it for a while.
     */
    readonly openFile: (zip: StoredZip, name: string) => Effect.Effect<BundleFile | null, StoreUnavailable>

    /**
     * Makes the first invocation of a bundle as quick as others, where the engine can: what `prepare` made of it just
     * now is loaded where it is to run. Ends when it is loaded, and soon in any case: what goes wrong is told to who
     * invokes it.
     */
    readonly warm: (bundle: FreshBundle) => Effect.Effect<void>

    /** Lifts the quarantine of a build, if there is one. */
    readonly pardon: (buildId: BuildId) => Effect.Effect<void>
  }
>()("@weft/core/sandbox/Sandbox") {}
