/** The sandbox as a Layer: isolates in supervised child processes. */
import { randomBytes } from "node:crypto"
import type { NotFound, StoreUnavailable } from "@weft/core"
import {
  type BundleRef,
  BundleRejected,
  defaultLimits,
  type Execution,
  type Invocation,
  type Limits,
  type Prepared,
  type Quarantine,
  Sandbox,
  SandboxUnavailable,
  type SourceText,
  Turns
} from "@weft/core/adapter"
import { Deferred, Effect, Layer, Queue, Redacted, type Scope, Semaphore } from "effect"
import { checkArchive, readBundle } from "./bundle/Archive.ts"
import { engineTag, openArtifact, sealArtifact } from "./bundle/Artifact.ts"
import { bundleModule, compile } from "./bundle/Compile.ts"
import { compileSession, prepareInput, toInputStack } from "./bundle/CompileSession.ts"
import { compileSource } from "./bundle/CompileSource.ts"
import { readExports } from "./bundle/Exports.ts"
import { loadOnce } from "./bundle/Preparation.ts"
import { StackMap } from "./bundle/StackMap.ts"
import { StoredFiles } from "./bundle/StoredFiles.ts"
import { Build, buildKey } from "./supervisor/Build.ts"
import { readGuestScripts } from "./supervisor/GuestScript.ts"
import { Job } from "./supervisor/Job.ts"
import { Pool } from "./supervisor/Pool.ts"
import { type RunnerSizing, sizeRunners, thisMachine } from "./supervisor/RunnerSizing.ts"
import { SpareRunner } from "./supervisor/SpareRunner.ts"
import { Watchdog } from "./supervisor/Watchdog.ts"

export interface SandboxOptions {
  readonly limits?: Partial<Limits>
  /** Shared runner processes; by default the number of processors, at least 2, or fewer if the memory is small. */
  readonly runners?: number
  /**
   * Resident memory at which a runner is killed, in bytes. By default a quarter of the memory of the machine or the
   * container, divided by the number of runners, from 1 to 4 GiB. All runners together have at most three quarters of it.
   */
  readonly rssBytes?: number
  /**
   * Key that authenticates artifacts, 32 bytes or more. By default random: then neither other processes nor this one
   * after a restart can use the artifacts.
   */
  readonly key?: Redacted.Redacted<Uint8Array>
  /** A runner without a heartbeat for this long is killed, in milliseconds; 1000 by default. */
  readonly heartbeatMs?: number
  /** Idle time after which an isolate ends, in milliseconds; 10 minutes by default. */
  readonly idleMs?: number
  /** Maximum isolates per runner, if memory allows; 200 by default. Further builds share them in round robin. */
  readonly isolatesPerRunner?: number
  /** Invocations after which an isolate is replaced; 1,000,000 by default. */
  readonly callsPerIsolate?: number
  /** Number of runner deaths that put a build under quarantine; 2 by default. */
  readonly strikes?: number
  /** Time after which a strike expires, in milliseconds; 1 hour by default. */
  readonly strikeMs?: number
  /** Maximum queued invocations per build; 10,000 by default. */
  readonly queuedPerBuild?: number
  /**
   * Keeps a process running for the next bundle that is loaded for the first time. Useful in development, where every
   * save is a new bundle. Costs about 50 MB; false by default.
   */
  readonly spareRunner?: boolean
  /** Memory for cached bundles, in bytes; 128 MiB by default. */
  readonly bundleBytes?: number
}

const MiB = 1024 * 1024
/** Maximum isolates that compute at once in one runner: more would need threads beyond the engine's pool. */
const enteredMax = 2
const outputLength = 8 * MiB
/** Share of `rssBytes` that isolates may occupy before new ones have to wait. The rest lets existing isolates grow. */
const isolateMemoryShare = 0.65
const preparationsMax = 2
/** Maximum quarantines that wait to be read. */
const quarantinesMax = 1000
const strikeMsDefault = 60 * 60 * 1000
/** Maximum time to compile a source, in milliseconds. A source is small, and others wait for the compiler. */
const sourceCompileMs = 2000
/** Time that the compiled program of sessions is kept, in milliseconds. */
const programMs = 60 * 60 * 1000
/** Maximum time that a deployment waits for its bundle to load, in milliseconds. */
const warmMs = 1000

/** A sandbox that runs guest code in isolates, in child processes. Closing the layer ends all of them. */
export const sandbox = (options: SandboxOptions = {}): Layer.Layer<Sandbox> => Layer.effect(Sandbox, make(options))

const make = Effect.fnUntraced(function* (options: SandboxOptions) {
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const key = options.key === undefined ? randomBytes(32) : Redacted.value(options.key)
  const { runners, rssBytes } = options
  const isolateBytes = limits.heapBytes + limits.bufferBytes
  const size = sizeRunners({ runners, rssBytes, isolateBytes }, thisMachine())
  // If nothing reads them, only the newest are kept.
  const quarantines = yield* Queue.sliding<Quarantine>(quarantinesMax)
  const pool = yield* makePool(options, limits, size, (quarantine) => void Queue.offerUnsafe(quarantines, quarantine))
  const bundles = new Bundles(pool, key, options.bundleBytes ?? 128 * MiB, yield* Effect.scope)
  const preparations = yield* Semaphore.make(preparationsMax)
  const spares = yield* Effect.acquireRelease(
    Effect.sync(() => new SpareRunner(pool, options.spareRunner ?? false)),
    (opened) => Effect.sync(() => opened.close())
  )
  const storedFiles = new StoredFiles()
  // Compiled at the first session: most servers have none.
  const plainSession = yield* Effect.cachedWithTTL(sealSession(limits, key, null), programMs)

  return Sandbox.of({
    check: (zip) => archiveEffect((signal) => checkArchive(zip, limits, signal)),
    prepare: (zip) => Semaphore.withPermits(preparations, 1)(prepare(spares, limits, size.rssBytes, key, zip)),
    compileSource: (source) => sealSource(limits, key, source),
    compileSession: (build) => (build === null ? plainSession : sealSession(limits, key, build)),
    prepareInput: (text) => prepareInput(text, Math.min(limits.compileMs, sourceCompileMs)),
    release: (bundle) => Effect.sync(() => bundles.release(bundle)),
    invoke: (invocation) =>
      Effect.suspend(() => {
        if (invocation.bundle.isSingleUse === true)
          return Effect.flatMap(bundles.openOnce(invocation.bundle), (once) => run(pool, limits, once, invocation))
        const build = bundles.getCached(invocation.bundle)
        if (build !== undefined) return run(pool, limits, build, invocation)
        return Effect.flatMap(bundles.load(invocation.bundle), (loaded) => run(pool, limits, loaded, invocation))
      }),
    warm: ({ env_id, build_id, artifact }) =>
      Effect.flatMap(bundles.add({ env_id, build_id }, artifact), (build) =>
        Effect.callback<void>((resume) => pool.warm(build, () => resume(Effect.void)))
      ).pipe(Effect.timeout(warmMs), Effect.ignore),
    openFile: (zip, name) => storedFiles.open(zip, name),
    clearQuarantine: (buildId) => Effect.sync(() => pool.strikes.clear(buildId)),
    nextQuarantine: Queue.take(quarantines),
    status: Effect.sync(() => ({
      runnerDeaths: pool.attribution.deaths,
      quarantined: pool.strikes.countQuarantined(performance.now())
    }))
  })
})

const makePool = Effect.fnUntraced(function* (
  options: SandboxOptions,
  limits: Limits,
  { runners, rssBytes }: RunnerSizing,
  onQuarantine: (quarantine: Quarantine) => void
) {
  const guest = yield* Effect.promise(readGuestScripts)
  const services = yield* Effect.context<never>()
  const turns = yield* Turns
  const log = Effect.runForkWith(services)
  const maps = new WeakMap<Build, StackMap>()
  const pool = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Pool({
          limits,
          runnerLimits: { ...limits, outboxLength: outputLength, entered: enteredMax },
          guestScripts: guest,
          runners,
          turns,
          strikes: options.strikes ?? 2,
          strikeMs: options.strikeMs ?? strikeMsDefault,
          isolatesPerRunner: options.isolatesPerRunner ?? 200,
          budgetBytes: rssBytes * isolateMemoryShare,
          callsPerIsolate: options.callsPerIsolate ?? 1_000_000,
          queuedPerBuild: options.queuedPerBuild ?? 10_000,
          mapStack: (build, stack) => {
            const map = maps.get(build) ?? new StackMap(build.bundle.sourceMap)
            maps.set(build, map)
            const translated = map.translate(stack)
            return build.keepsState ? toInputStack(translated) : translated
          },
          report: (message) => void log(Effect.logWarning(message)),
          onQuarantine
        })
    ),
    (opened) => Effect.sync(() => opened.close())
  )
  yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Watchdog(pool, {
          heartbeatMs: options.heartbeatMs ?? 1000,
          rssBytes,
          idleMs: options.idleMs ?? 10 * 60 * 1000,
          heapBytes: limits.heapBytes
        })
    ),
    (watchdog) => Effect.sync(() => watchdog.close())
  )
  return pool
})

/** Runs one job. Interruption stops the job and waits until its guest can no longer act. */
const run = (
  pool: Pool,
  limits: Limits,
  build: Build,
  invocation: Invocation
): Effect.Effect<Execution, SandboxUnavailable> =>
  Effect.withFiber((fiber) =>
    Effect.callback((resume) => {
      let stopped: (() => void) | undefined
      const job = new Job(
        pool.isolates.freshId(),
        build,
        invocation,
        limits,
        fiber,
        (execution) => (stopped === undefined ? resume(Effect.succeed(execution)) : stopped()),
        (reason) => (stopped === undefined ? resume(Effect.fail(new SandboxUnavailable({ reason }))) : stopped())
      )
      pool.run(job)
      return Effect.callback((done) => {
        if (job.ended) return done(Effect.void)
        stopped = () => done(Effect.void)
        pool.stop(job, "cancelled")
      })
    })
  )

const prepare = Effect.fnUntraced(function* (
  spares: SpareRunner,
  limits: Limits,
  rssBytes: number,
  key: Uint8Array,
  zip: Uint8Array
) {
  const source = yield* archiveEffect((signal) => readBundle(zip, limits, signal))
  const compiled = yield* compile(source.script, source.sourceMap, limits.compileMs)
  const loaded = yield* loadOnce(spares, limits, rssBytes, compiled)
  const functions = yield* readExports(loaded.exports)
  const artifact = sealArtifact(key, { ...compiled, cache: loaded.cache, engine: engineTag([]) })
  return { functions, artifact, code: compiled.script } satisfies Prepared
})

/** Compiles a source, which runs without a code cache, into an artifact. */
const sealSource = Effect.fnUntraced(function* (limits: Limits, key: Uint8Array, { text, build }: SourceText) {
  const context = build === null ? null : yield* archiveEffect((signal) => readBundle(build, limits, signal))
  const module = context === null ? null : bundleModule(context.script, context.sourceMap)
  const compiled = yield* compileSource(text, module, Math.min(limits.compileMs, sourceCompileMs))
  return sealArtifact(key, { ...compiled, cache: new Uint8Array(0), engine: engineTag([]) })
})

const sealSession = Effect.fnUntraced(function* (limits: Limits, key: Uint8Array, build: Uint8Array | null) {
  const context = build === null ? null : yield* archiveEffect((signal) => readBundle(build, limits, signal))
  const module = context === null ? null : bundleModule(context.script, context.sourceMap)
  const compiled = yield* compileSession(module, limits.compileMs)
  return sealArtifact(key, { ...compiled, cache: new Uint8Array(0), engine: engineTag([]) })
})

const archiveEffect = <A>(work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, BundleRejected> =>
  Effect.tryPromise({ try: work, catch: (error) => error }).pipe(
    Effect.catch((error) => (error instanceof BundleRejected ? Effect.fail(error) : Effect.die(error)))
  )

type LoadError = SandboxUnavailable | NotFound | StoreUnavailable

/** The parts of a reference that describe its build. */
type BuildKey = Pick<BundleRef, "env_id" | "build_id" | "isSingleUse" | "keepsState" | "strike_id">

/** Cache of bundles; it evicts the least recently used. */
class Bundles {
  readonly #pool: Pool
  readonly #key: Uint8Array
  readonly #bytesMax: number
  readonly #scope: Scope.Scope
  readonly #builds = new Map<string, Build>()
  readonly #loading = new Map<string, Deferred.Deferred<Build, LoadError>>()
  readonly #engine = engineTag([])
  #bytes = 0

  constructor(pool: Pool, key: Uint8Array, bytesMax: number, scope: Scope.Scope) {
    this.#pool = pool
    this.#key = key
    this.#bytesMax = bytesMax
    this.#scope = scope
  }

  getCached(ref: BundleRef): Build | undefined {
    return this.#builds.get(buildKey(ref.env_id, ref.build_id))
  }

  /** Fetches the artifact once for all concurrent callers, even if some of them are interrupted. */
  load(ref: BundleRef): Effect.Effect<Build, LoadError> {
    const name = buildKey(ref.env_id, ref.build_id)
    const known = this.#loading.get(name)
    if (known !== undefined) return Deferred.await(known)
    const deferred = Deferred.makeUnsafe<Build, LoadError>()
    this.#loading.set(name, deferred)
    const open = (artifact: Uint8Array) => this.#open(ref, artifact)
    const fetch = Effect.flatMap(ref.artifact, open).pipe(
      Effect.catchTag("SandboxUnavailable", () => Effect.flatMap(ref.renewed, open)),
      Effect.onExit((exit) =>
        Effect.sync(() => {
          this.#loading.delete(name)
          Deferred.doneUnsafe(deferred, exit)
        })
      )
    )
    return Effect.andThen(Effect.forkIn(fetch, this.#scope), Deferred.await(deferred))
  }

  /** Opens a bundle for one invocation, without caching it. */
  openOnce(ref: BundleRef): Effect.Effect<Build, LoadError> {
    return Effect.flatMap(ref.artifact, (artifact) => this.#unseal(ref, artifact))
  }

  /** Adds a bundle from an artifact in memory. */
  add(ref: BuildKey, artifact: Uint8Array): Effect.Effect<Build, SandboxUnavailable> {
    return this.#open(ref, artifact)
  }

  /** Forgets a bundle and disposes its isolates. */
  release(ref: Pick<BundleRef, "env_id" | "build_id">): void {
    const build = this.#builds.get(buildKey(ref.env_id, ref.build_id))
    if (build !== undefined) this.#remove(build)
  }

  #remove(build: Build): void {
    this.#builds.delete(build.key)
    this.#bytes -= build.bytes
    for (const [runner, isolate] of [...build.isolates]) {
      const view = this.#pool.views.get(runner)
      if (view !== undefined) this.#pool.isolates.dispose(view, isolate)
    }
  }

  #open(ref: BuildKey, artifact: Uint8Array): Effect.Effect<Build, SandboxUnavailable> {
    return Effect.suspend(() => {
      const known = this.#builds.get(buildKey(ref.env_id, ref.build_id))
      if (known !== undefined) return Effect.succeed(known)
      return Effect.map(this.#unseal(ref, artifact), (build) => {
        this.#builds.set(build.key, build)
        this.#bytes += build.bytes
        this.#shrink(build)
        return build
      })
    })
  }

  #unseal(
    { env_id, build_id, isSingleUse = false, keepsState = false, strike_id = build_id }: BuildKey,
    artifact: Uint8Array
  ): Effect.Effect<Build, SandboxUnavailable> {
    const bundle = openArtifact(this.#key, this.#engine, artifact)
    return bundle === undefined
      ? Effect.fail(
          new SandboxUnavailable({
            reason: `the artifact of build ${build_id} was not made with this sandbox's \`key\``
          })
        )
      : Effect.succeed(new Build(env_id, build_id, bundle, { isSingleUse, keepsState, strikeId: strike_id }))
  }

  #shrink(newest: Build): void {
    const idle = [...this.#builds.values()].filter((build) => build !== newest && build.idle && !build.keepsState)
    idle.sort((a, b) => a.lastUsedAt - b.lastUsedAt)
    for (const build of idle) {
      if (this.#bytes <= this.#bytesMax) return
      this.#remove(build)
    }
  }
}
