/**
 * A `Sandbox` without isolation: it calls plain functions of this process, with all rights of the process.
 *
 * For tests of hosts, and only for code that is trusted like the host itself. Nothing is isolated, and a loop without a
 * pause cannot be stopped. CPU time and memory are reported as 0.
 *
 * Everything else behaves as the seam requires: wall time, cancellation at the next pause, host calls, logs and
 * responses.
 *
 *     const layer = trustedSandbox({ shop: { main: { add: (a: number, b: number) => a + b } } })
 *     const zip = trustedZip("shop")      // uploaded in place of a zip: it names a module
 */
import { Clock, Context, Effect, Layer, Result, type Schema } from "effect"
import type { BuildId } from "../foundation/Ids.ts"
import { utf8Decode, utf8Encode } from "../foundation/Utf8.ts"
import { defaultLimits } from "../platform/sandbox/Limits.ts"
import type { Execution, Outcome } from "../platform/sandbox/Outcome.ts"
import {
  type BundleRef,
  BundleRejected,
  type ExportedFunction,
  type FunctionRef,
  type Invocation,
  Sandbox,
  SandboxUnavailable
} from "../platform/sandbox/Sandbox.ts"
import { failureOutcome, valueOutcome, webhookOutcome } from "./TrustedOutcome.ts"
import { makeTrustedSession, prepareTrusted, sessionArtifact, sessionKey } from "./TrustedSession.ts"
import { compileTrusted, isSource, sourceMark, toTrustedModule } from "./TrustedSource.ts"
import { makeSvc } from "./TrustedSvc.ts"

/** A function of a module. Its trigger is its property `meta` (decisions 5.1). */
export interface TrustedFunction {
  (...args: ReadonlyArray<never>): unknown
  readonly meta?: unknown
}

/** Functions by namespace and name. */
export type TrustedModule = Readonly<Record<string, Readonly<Record<string, TrustedFunction>>>>

/** Returns the bytes that represent the module `key` of `trustedSandbox`. */
export const trustedZip = (key: string): Uint8Array => utf8Encode(key)

export const trustedSandbox = (modules: Readonly<Record<string, TrustedModule>>): Layer.Layer<Sandbox> =>
  Layer.sync(Sandbox, () => {
    const keys = new Map<BuildId, string>()
    const sessions = new Map<BuildId, TrustedModule>()

    const sessionOf = ({ build_id }: BundleRef): TrustedModule => {
      const session = sessions.get(build_id) ?? makeTrustedSession()
      sessions.set(build_id, session)
      return session
    }

    /** Loads the artifact of a build once, as an engine does. */
    const loadKey = (bundle: BundleRef) =>
      Effect.suspend(() => {
        const key = keys.get(bundle.build_id)
        return key !== undefined
          ? Effect.succeed(key)
          : Effect.map(bundle.artifact, (artifact) => {
              const read = utf8Decode(artifact)
              keys.set(bundle.build_id, read)
              return read
            })
      })

    const find = (zip: Uint8Array) => {
      const key = utf8Decode(zip)
      const module = Object.hasOwn(modules, key) ? modules[key] : undefined
      return module === undefined
        ? Effect.fail(new BundleRejected({ reason: "The file is not a zip: it names no trusted module" }))
        : Effect.succeed(module)
    }

    return Sandbox.of({
      check: (zip) => Effect.asVoid(find(zip)),
      prepare: (zip) =>
        Effect.flatMap(find(zip), (module) =>
          Effect.map(exportedFunctions(module), (functions) => ({
            functions,
            artifact: zip.slice(),
            code: Object.values(module)
              .flatMap((ns) => Object.values(ns))
              .join("\n")
          }))
        ),
      compileSource: (source) => compileTrusted(source),
      compileSession: () => Effect.succeed(sessionArtifact),
      prepareInput: prepareTrusted,
      release: ({ build_id }) => Effect.sync(() => void sessions.delete(build_id)),
      invoke: Effect.fnUntraced(function* (invocation: Invocation) {
        const key = yield* loadKey(invocation.bundle)
        if (key === sessionKey) return yield* execute(sessionOf(invocation.bundle), invocation)
        if (key.startsWith(sourceMark)) return yield* execute(toTrustedModule(key.slice(sourceMark.length)), invocation)
        const module = Object.hasOwn(modules, key) ? modules[key] : undefined
        return module === undefined
          ? yield* new SandboxUnavailable({ reason: `The artifact of build ${invocation.bundle.build_id} is refused` })
          : yield* execute(module, invocation)
      }),
      // The stand-in for a zip has no files.
      openFile: () => Effect.succeed(null),
      warm: () => Effect.void,
      clearQuarantine: () => Effect.void,
      nextQuarantine: Effect.never,
      status: Effect.succeed({ runnerDeaths: new Map(), quarantined: 0 })
    })
  })

const exportedFunctions = (module: TrustedModule): Effect.Effect<Array<ExportedFunction>, BundleRejected> =>
  Effect.try({
    try: () =>
      Object.keys(module)
        .sort()
        .flatMap((ns) =>
          Object.keys(module[ns] ?? {})
            .sort()
            .map((name) => ({ ns, var: name, meta: asJson(module[ns]?.[name]?.meta) }))
        ),
    catch: () => new BundleRejected({ reason: "meta of a function is not JSON" })
  })

const asJson = (meta: unknown): Schema.Json | undefined =>
  meta === undefined ? undefined : JSON.parse(JSON.stringify(meta))

const lookUp = (module: TrustedModule, fn: FunctionRef): TrustedFunction | undefined => {
  const namespace = Object.hasOwn(module, fn.ns) ? module[fn.ns] : undefined
  return namespace !== undefined && Object.hasOwn(namespace, fn.var) ? namespace[fn.var] : undefined
}

const execute = Effect.fnUntraced(function* (module: TrustedModule, invocation: Invocation) {
  const clock = yield* Clock.Clock
  const started = clock.currentTimeMillisUnsafe()
  const outcome = yield* Effect.timeoutOrElse(call(module, invocation, yield* Effect.context<never>()), {
    duration: invocation.timeoutMs,
    orElse: () => Effect.succeed<Outcome>({ _tag: "TimedOut", limitMs: invocation.timeoutMs })
  })
  const usage = { cpu_ms: 0, wall_ms: clock.currentTimeMillisUnsafe() - started, heap_bytes: 0 }
  return { outcome, usage } satisfies Execution
})

/** Runs the function to its end. After an interruption, its later results, logs and host calls are discarded. */
const call = (
  module: TrustedModule,
  invocation: Invocation,
  context: Context.Context<never>
): Effect.Effect<Outcome> => {
  const run = Effect.runPromiseWith(context)
  const time = () => Context.get(context, Clock.Clock).currentTimeMillisUnsafe()
  const apply = async (fn: FunctionRef, args: ReadonlyArray<unknown>): Promise<unknown> => {
    const target = lookUp(module, fn)
    if (target === undefined) throw new ReferenceError(`There is no function ${fn.ns}/${fn.var}`)
    return Reflect.apply(target, undefined, args)
  }
  return Effect.callback<Outcome>((resume) => {
    const svc = makeSvc(invocation, lookUp(module, invocation.fn)?.meta, {
      sleep: (ms) => run(Effect.sleep(ms)),
      turn: () => run(Effect.yieldNow),
      end: (error) => settle(failureOutcome(error, time())),
      time,
      call: async (op, payload) => {
        const answer = await run(Effect.result(invocation.onHostCall({ op, payload })))
        if (Result.isSuccess(answer)) return answer.success
        throw Object.assign(new Error(answer.failure.message), { name: answer.failure.name })
      },
      invoke: (fn, args) => {
        const [ns = "", name = ""] = fn.split("/")
        return apply({ ns, var: name }, args)
      }
    })
    const settle = (outcome: Outcome) => {
      svc.close()
      resume(Effect.succeed(outcome))
    }
    const called = apply(invocation.fn, isSource(module) ? [svc.svc, ...svc.args] : svc.args)
    svc.replay()
    const toOutcome = invocation.trigger === "request" ? webhookOutcome : valueOutcome
    const end = async (failure: { readonly error: unknown } | null, value: unknown) => {
      const ended = await svc.conclude(failure)
      settle(ended === null ? applyResultLimit(toOutcome(value)) : failureOutcome(ended.error, time()))
    }
    called.then(
      (value) => void end(null, value),
      (error) => void end({ error }, undefined)
    )
    return Effect.sync(() => svc.close())
  })
}

const applyResultLimit = (outcome: Outcome): Outcome => {
  const text = outcome._tag === "Returned" ? outcome.output : outcome._tag === "Responded" ? outcome.body : ""
  return utf8Encode(text).length <= defaultLimits.resultBytes
    ? outcome
    : {
        _tag: "LimitExceeded",
        limit: "resultBytes",
        message: `The result is larger than ${defaultLimits.resultBytes} bytes`
      }
}
