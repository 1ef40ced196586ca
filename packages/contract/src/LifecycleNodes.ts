/** Nodes on shared stores in virtual time. A node that is disconnected from the stores appears dead to the others. */
import { Caller, type EnvId, hostIdentity, layer, StoreUnavailable, type WeftServices } from "@weft/core"
import {
  AdmissionStore,
  type BlobStore,
  type ClusterBus,
  JournalStore,
  RunControlStore,
  type Stores
} from "@weft/core/adapter"
import { type TrustedModule, trustedSandbox } from "@weft/core/testing"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"

export type Shared = Stores | BlobStore | ClusterBus

/** Behavior of a function in one attempt. */
export type Act = "returns" | "sleeps" | "throws" | "hangs"

/** The data of an event: the behavior in each attempt. The last one also applies to all further attempts. */
export interface Job {
  readonly script: ReadonlyArray<Act>
  readonly key: string
}

export interface Rules {
  readonly attempts: number
  /** Delay before the second attempt, in milliseconds. */
  readonly delay: number
  readonly backoff: number
  readonly jitter: boolean
  /** Timeout in milliseconds, longer than `sleepMs`. */
  readonly timeout: number
  readonly concurrency: { readonly limit: number; readonly keyed: boolean } | null
  /** True if the function handles only one of the events with the same key. */
  readonly once: boolean
}

/** Duration of the behavior "sleeps", in milliseconds. */
const sleepMs = 1500

export const actAt = ({ script }: Job, attempt: number): Act => script[attempt - 1] ?? script.at(-1) ?? "returns"

/** Builds with the same functions. Results contain the name of the build. */
export const buildNames = ["one", "two"] as const
export type BuildName = (typeof buildNames)[number]

/** Returns a module with a function per rule: `f0` handles `job:0` and `job:all`, and returns its attempt and build. */
export const makeModule = (
  build: BuildName,
  rules: ReadonlyArray<Rules>,
  sleep: (ms: number) => Promise<void>
): TrustedModule => {
  const work = async (job: Job, attempt: number): Promise<readonly [number, BuildName]> => {
    const act = actAt(job, attempt)
    if (act === "throws") throw new RangeError("thrown by the script")
    if (act === "sleeps") await sleep(sleepMs)
    return act === "hangs" ? new Promise<never>(() => undefined) : [attempt, build]
  }
  const functions = rules.map(({ attempts, delay, backoff, jitter, timeout, concurrency, once }, index) => {
    const call = (event: { readonly event_data: Job }, svc: { readonly run: { readonly attempt: number } }) =>
      work(event.event_data, svc.run.attempt)
    const limited =
      concurrency === null
        ? {}
        : { concurrency: { limit: concurrency.limit, ...(concurrency.keyed ? { key: "key" } : {}) } }
    const meta = {
      event: [`job:${index}`, "job:all"],
      retry: { attempts, delay, backoff, jitter },
      timeout,
      ...limited,
      ...(once ? { idempotency: "key" } : {})
    }
    return [`f${index}`, Object.assign(call, { meta })] as const
  })
  return { main: Object.fromEntries(functions) }
}

const masterKeys = [Redacted.make(new Uint8Array(32).fill(7))] as const

export interface Node {
  /** Runs the effect as the host in the environment. */
  readonly run: <A, E>(envId: EnvId, effect: Effect.Effect<A, E, WeftServices | Caller>) => Effect.Effect<A, E>
  /** True if the node cannot reach the stores. */
  readonly isDisconnected: () => boolean
  readonly disconnect: () => void
  readonly reconnect: () => void
  readonly stop: Effect.Effect<void>
}

/** Starts a node with these modules. An interruption shuts it down; a disconnection simulates a crash. */
export const startNode = Effect.fnUntraced(function* (
  { during }: Time,
  shared: Context.Context<Shared>,
  modules: Readonly<Record<string, TrustedModule>>
) {
  const link = { isDown: false }
  const scope = yield* Scope.make()
  const node = layer({ masterKeys }).pipe(
    Layer.provide(trustedSandbox(modules)),
    Layer.provide(Layer.succeedContext(makeDisconnectable(shared, link)))
  )
  const services = yield* during(Layer.buildWithScope(Layer.fresh(node), scope))
  return {
    run: (envId, effect) =>
      during(effect.pipe(Effect.provideService(Caller, hostIdentity(envId)), Effect.provideContext(services))),
    isDisconnected: () => link.isDown,
    disconnect: () => {
      link.isDown = true
    },
    reconnect: () => {
      link.isDown = false
    },
    stop: during(Scope.close(scope, Exit.void))
  } satisfies Node
})

/** Virtual time. */
export interface Time {
  /** Advances the clock until the effect ends. */
  readonly during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Advances the clock in steps of at most 500 ms. */
  readonly pass: (millis: number) => Effect.Effect<void>
}

/** Returns a virtual time. `waitReal` waits for work outside it: promises, threads, disks. */
export const makeTime = (waitReal: Effect.Effect<void>): Time => ({
  during: Effect.fnUntraced(function* (effect) {
    const fiber = yield* Effect.forkChild(effect)
    for (let step = 0; fiber.pollUnsafe() === undefined && step < 10_000; step++) {
      yield* waitReal
      if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(20)
    }
    return yield* Fiber.join(fiber)
  }),
  pass: Effect.fnUntraced(function* (millis) {
    for (let left = millis; left > 0; left -= 500) {
      yield* TestClock.adjust(Math.min(left, 500))
      yield* waitReal
    }
  })
})

/** Returns the stores of a node. Those for runs fail while the node is disconnected. */
const makeDisconnectable = (
  shared: Context.Context<Shared>,
  link: { readonly isDown: boolean }
): Context.Context<Shared> => {
  const through = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> =>
    Effect.suspend(
      (): Effect.Effect<A, E | StoreUnavailable> =>
        link.isDown ? Effect.fail(new StoreUnavailable({ operation: "any", cause: "disconnected" })) : effect
    )
  const journal = Context.get(shared, JournalStore)
  const admissions = Context.get(shared, AdmissionStore)
  const control = Context.get(shared, RunControlStore)
  return shared.pipe(
    Context.add(JournalStore, {
      commitsMax: journal.commitsMax,
      commit: (...args) => through(journal.commit(...args)),
      count: (...args) => through(journal.count(...args)),
      claim: (...args) => through(journal.claim(...args)),
      unpark: (...args) => through(journal.unpark(...args)),
      parked: (...args) => through(journal.parked(...args)),
      reap: (...args) => through(journal.reap(...args)),
      findPendingWork: (...args) => through(journal.findPendingWork(...args)),
      endLease: (...args) => through(journal.endLease(...args)),
      purge: (...args) => through(journal.purge(...args)),
      purgeWhole: (...args) => through(journal.purgeWhole(...args))
    }),
    Context.add(AdmissionStore, {
      admit: (...args) => through(admissions.admit(...args)),
      earlier: (...args) => through(admissions.earlier(...args)),
      forget: (...args) => through(admissions.forget(...args))
    }),
    Context.add(RunControlStore, {
      cancel: (...args) => through(control.cancel(...args)),
      requestCleanup: (...args) => through(control.requestCleanup(...args)),
      discard: (...args) => through(control.discard(...args)),
      log: (...args) => through(control.log(...args)),
      ended: (...args) => through(control.ended(...args)),
      redeliver: (...args) => through(control.redeliver(...args)),
      renew: (...args) => through(control.renew(...args)),
      advance: (...args) => through(control.advance(...args)),
      fork: (...args) => through(control.fork(...args))
    })
  )
}
