/** The sandbox as a Layer: isolates in supervised child processes. */
import { randomBytes } from "node:crypto"
import { availableParallelism, totalmem } from "node:os"
import {
  type BuildId,
  type BundleRef,
  BundleRejected,
  defaultLimits,
  type Execution,
  type Invocation,
  type Limits,
  type NotFound,
  type Prepared,
  Sandbox,
  SandboxUnavailable,
  type StoreUnavailable
} from "@weft/core"
import { Deferred, Effect, Layer, Redacted, type Scope, Semaphore } from "effect"
import { checkArchive, readBundle } from "./bundle/Archive.ts"
import { engineTag, openArtifact, sealArtifact } from "./bundle/Artifact.ts"
import { compile } from "./bundle/Compile.ts"
import { readExports } from "./bundle/Exports.ts"
import { loadOnce } from "./bundle/Preparation.ts"
import { StackMap } from "./bundle/StackMap.ts"
import { StoredFiles } from "./bundle/StoredFiles.ts"
import { Build } from "./supervisor/Build.ts"
import { guestScript } from "./supervisor/GuestScript.ts"
import { Job } from "./supervisor/Job.ts"
import { Police } from "./supervisor/Police.ts"
import { Pool } from "./supervisor/Pool.ts"
import { SpareRunner } from "./supervisor/SpareRunner.ts"

export interface IsolatedOptions {
  readonly limits?: Partial<Limits>
  /** Shared runner processes; by default as many as processors, and at least 2. */
  readonly runners?: number
  /**
   * Resident memory at which a runner is killed, in bytes. By default its share of a quarter of the memory of the machine,
   * or of the container, but from 1 to 4 GiB.
   */
  readonly rssBytes?: number
  /**
   * Authenticates artifacts, 32 bytes or more. By default random: then artifacts are of no use to other processes,
   * nor to this one after a restart.
   */
  readonly key?: Redacted.Redacted<Uint8Array>
  /** Without a sign of life for so long a runner is killed, in milliseconds; 1000 by default. */
  readonly heartbeatMs?: number
  /** Isolates end when unused for so long, in milliseconds; 10 minutes by default. */
  readonly idleMs?: number
  /** Isolates that one runner keeps, as far as memory allows; 200 by default. Builds beyond that take turns. */
  readonly isolatesPerRunner?: number
  /** Invocations after which an isolate is replaced; 1,000,000 by default. */
  readonly callsPerIsolate?: number
  /** How many runner deaths put a build under quarantine; 2 by default. */
  readonly strikes?: number
  /** Invocations of one build that may wait for its others to end, or for room; 10,000 by default. */
  readonly waitingPerBuild?: number
  /**
   * Keeps a process started for the next bundle that is loaded for the first time: for development, where every save is
   * one. Costs some 50 MB; by default there is none.
   */
  readonly spareRunner?: boolean
  /** Bundles kept in memory for quick starts, in bytes; 128 MiB by default. */
  readonly bundleBytes?: number
}

const MiB = 1024 * 1024
/** Isolates that may compute at once in one runner: more would need threads beyond the engine's pool. */
const enteredMax = 2
const outboxLength = 8 * MiB
/** Of that memory, what isolates may take up before further ones wait for room: those that are there may grow. */
const roomShare = 0.65
const preparationsMax = 2
/** What a deployment waits at most until its bundle is loaded for its first call. */
const warmMs = 1000

/** Guest code in isolates of their own, in child processes. Closing the layer ends all of them. */
export const isolated = (options: IsolatedOptions = {}): Layer.Layer<Sandbox> => Layer.effect(Sandbox, make(options))

const make = Effect.fnUntraced(function* (options: IsolatedOptions) {
  const limits: Limits = { ...defaultLimits, ...options.limits }
  const key = options.key === undefined ? randomBytes(32) : Redacted.value(options.key)
  const size = sizeOf(options)
  const pool = yield* makePool(options, limits, size)
  const bundles = new Bundles(pool, key, options.bundleBytes ?? 128 * MiB, yield* Effect.scope)
  const preparations = yield* Semaphore.make(preparationsMax)
  const spares = yield* Effect.acquireRelease(
    Effect.sync(() => new SpareRunner(pool, options.spareRunner ?? false)),
    (opened) => Effect.sync(() => opened.close())
  )
  const storedFiles = new StoredFiles()

  return Sandbox.of({
    check: (zip) => archiveEffect((signal) => checkArchive(zip, limits, signal)),
    prepare: (zip) => Semaphore.withPermits(preparations, 1)(prepare(spares, limits, size.rssBytes, key, zip)),
    invoke: (invocation) =>
      Effect.suspend(() => {
        const build = bundles.peek(invocation.bundle)
        if (build !== undefined) return run(pool, limits, build, invocation)
        return Effect.flatMap(bundles.load(invocation.bundle), (loaded) => run(pool, limits, loaded, invocation))
      }),
    warm: ({ env_id, build_id, artifact }) =>
      Effect.flatMap(bundles.take({ env_id, build_id }, artifact), (build) =>
        Effect.callback<void>((resume) => pool.warm(build, () => resume(Effect.void)))
      ).pipe(Effect.timeout(warmMs), Effect.ignore),
    openFile: (zip, name) => storedFiles.open(zip, name),
    pardon: (buildId) => Effect.sync(() => pool.strikes.pardon(buildId))
  })
})

interface Size {
  readonly runners: number
  readonly rssBytes: number
}

const sizeOf = (options: IsolatedOptions): Size => {
  const { runners = Math.max(2, availableParallelism()) } = options
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  const { rssBytes = Math.min(Math.max(1024 * MiB, memory / 4 / runners), 4096 * MiB) } = options
  return { runners, rssBytes }
}

const makePool = Effect.fnUntraced(function* (options: IsolatedOptions, limits: Limits, { runners, rssBytes }: Size) {
  const guest = yield* Effect.promise(guestScript)
  const services = yield* Effect.context<never>()
  const log = Effect.runForkWith(services)
  const maps = new WeakMap<Build, StackMap>()
  const pool = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Pool({
          limits,
          runnerLimits: { ...limits, outboxLength, entered: enteredMax },
          guestScript: guest,
          runners,
          strikes: options.strikes ?? 2,
          isolatesPerRunner: options.isolatesPerRunner ?? 200,
          roomBytes: rssBytes * roomShare,
          callsPerIsolate: options.callsPerIsolate ?? 1_000_000,
          waitingPerBuild: options.waitingPerBuild ?? 10_000,
          mapStack: (build, stack) => {
            const map = maps.get(build) ?? new StackMap(build.bundle.sourceMap)
            maps.set(build, map)
            return map.translate(stack)
          },
          report: (message) => void log(Effect.logWarning(message))
        })
    ),
    (opened) => Effect.sync(() => opened.close())
  )
  yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Police(pool, {
          heartbeatMs: options.heartbeatMs ?? 1000,
          rssBytes,
          idleMs: options.idleMs ?? 10 * 60 * 1000,
          heapBytes: limits.heapBytes
        })
    ),
    (police) => Effect.sync(() => police.close())
  )
  return pool
})

/** One job from beginning to end. Interruption stops it and waits until the guest can do nothing any more. */
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
  return { functions, artifact } satisfies Prepared
})

const archiveEffect = <A>(work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, BundleRejected> =>
  Effect.tryPromise({ try: work, catch: (error) => error }).pipe(
    Effect.catch((error) => (error instanceof BundleRejected ? Effect.fail(error) : Effect.die(error)))
  )

type LoadError = SandboxUnavailable | NotFound | StoreUnavailable

/** The bundles in memory, the longest unused ones forgotten first. */
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

  peek(ref: BundleRef): Build | undefined {
    return this.#builds.get(keyOf(ref))
  }

  /** Fetches the artifact once, however many ask for it meanwhile, and whoever of them gives up. */
  load(ref: BundleRef): Effect.Effect<Build, LoadError> {
    const name = keyOf(ref)
    const known = this.#loading.get(name)
    if (known !== undefined) return Deferred.await(known)
    const deferred = Deferred.makeUnsafe<Build, LoadError>()
    this.#loading.set(name, deferred)
    const open = (artifact: Uint8Array) => this.#open(name, ref.build_id, artifact)
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

  /** Keeps a bundle whose artifact is at hand. */
  take(ref: Pick<BundleRef, "env_id" | "build_id">, artifact: Uint8Array): Effect.Effect<Build, SandboxUnavailable> {
    return this.#open(keyOf(ref), ref.build_id, artifact)
  }

  #open(name: string, buildId: BuildId, artifact: Uint8Array): Effect.Effect<Build, SandboxUnavailable> {
    return Effect.suspend(() => {
      const known = this.#builds.get(name)
      if (known !== undefined) return Effect.succeed(known)
      const bundle = openArtifact(this.#key, this.#engine, artifact)
      if (bundle === undefined) {
        return Effect.fail(new SandboxUnavailable({ reason: `the artifact of build ${buildId} is not authentic` }))
      }
      const build = new Build(name, buildId, bundle)
      this.#builds.set(name, build)
      this.#bytes += build.bytes
      this.#shrink(build)
      return Effect.succeed(build)
    })
  }

  #shrink(newest: Build): void {
    const idle = [...this.#builds.values()].filter((build) => build !== newest && build.idle)
    idle.sort((a, b) => a.lastUsedAt - b.lastUsedAt)
    for (const build of idle) {
      if (this.#bytes <= this.#bytesMax) return
      this.#builds.delete(build.key)
      this.#bytes -= build.bytes
      for (const [runner, isolate] of build.isolates) {
        const view = this.#pool.views.get(runner)
        if (view !== undefined) this.#pool.isolates.drop(view, isolate)
      }
    }
  }
}

const keyOf = (ref: Pick<BundleRef, "env_id" | "build_id">): string => `${ref.env_id}/${ref.build_id}`
