/** Nodes of Weft on shared stores, in virtual time, that can be cut off from them: to the others such a node is dead. */
import {
  AdmissionStore,
  type BlobStore,
  Caller,
  type EnvId,
  type Feed,
  hostIdentity,
  JournalStore,
  layer,
  RunControlStore,
  type Stores,
  StoreUnavailable,
  type TrustedModule,
  trustedSandbox,
  type WeftServices
} from "@weft/core"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"

export type Shared = Stores | BlobStore | Feed

/** What a function does at one attempt. */
export type Act = "returns" | "takes its time" | "throws" | "hangs"

/** The data of an event: an act for each attempt, of which the last goes on. */
export interface Job {
  readonly script: ReadonlyArray<Act>
  readonly key: string
}

export interface Rules {
  readonly attempts: number
  /** Milliseconds. */
  readonly delay: number
  readonly backoff: number
  readonly jitter: boolean
  /** Milliseconds; more than what takes its time. */
  readonly timeout: number
  readonly concurrency: { readonly limit: number; readonly keyed: boolean } | null
  /** Whether it handles one event only of those with the same key. */
  readonly once: boolean
}

/** How long an act takes that takes its time, in milliseconds. */
const takes = 1500

export const actAt = ({ script }: Job, attempt: number): Act => script[attempt - 1] ?? script.at(-1) ?? "returns"

/** Builds with the same functions, which tell them apart. */
export const buildNames = ["one", "two"] as const
export type BuildName = (typeof buildNames)[number]

/** A function for each of the rules: `f0` handles `job:0` and `job:all`, and so on. They give attempt and build. */
export const moduleOf = (
  build: BuildName,
  rules: ReadonlyArray<Rules>,
  sleep: (ms: number) => Promise<void>
): TrustedModule => {
  const work = async (job: Job, attempt: number): Promise<readonly [number, BuildName]> => {
    const act = actAt(job, attempt)
    if (act === "throws") throw new RangeError("as the script says")
    if (act === "takes its time") await sleep(takes)
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
  /** As the host, in the environment. */
  readonly run: <A, E>(envId: EnvId, effect: Effect.Effect<A, E, WeftServices | Caller>) => Effect.Effect<A, E>
  /** Whether the stores still hear it. */
  readonly isCut: () => boolean
  readonly cut: () => void
  readonly reconnect: () => void
  readonly stop: Effect.Effect<void>
}

/** A node with these modules. Interrupting it is stopping it well; to kill it, cut it off. */
export const startNode = Effect.fnUntraced(function* (
  { during }: Time,
  shared: Context.Context<Shared>,
  modules: Readonly<Record<string, TrustedModule>>
) {
  const line = { cut: false }
  const scope = yield* Scope.make()
  const node = layer({ masterKeys }).pipe(
    Layer.provide(trustedSandbox(modules)),
    Layer.provide(Layer.succeedContext(cuttable(shared, line)))
  )
  const services = yield* during(Layer.buildWithScope(Layer.fresh(node), scope))
  return {
    run: (envId, effect) =>
      during(effect.pipe(Effect.provideService(Caller, hostIdentity(envId)), Effect.provideContext(services))),
    isCut: () => line.cut,
    cut: () => {
      line.cut = true
    },
    reconnect: () => {
      line.cut = false
    },
    stop: during(Scope.close(scope, Exit.void))
  } satisfies Node
})

/** Virtual time, and how it is made to pass. */
export interface Time {
  /** Moves the clock as long as the effect takes. */
  readonly during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** In steps in which only one of two things half a second apart can happen. */
  readonly pass: (millis: number) => Effect.Effect<void>
}

/** `turn` gives time to what is not virtual: promises, threads, disks. */
export const timeOf = (turn: Effect.Effect<void>): Time => ({
  during: Effect.fnUntraced(function* (effect) {
    const fiber = yield* Effect.forkChild(effect)
    for (let step = 0; fiber.pollUnsafe() === undefined && step < 10_000; step++) {
      yield* turn
      if (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(20)
    }
    return yield* Fiber.join(fiber)
  }),
  pass: Effect.fnUntraced(function* (millis) {
    for (let left = millis; left > 0; left -= 500) {
      yield* TestClock.adjust(Math.min(left, 500))
      yield* turn
    }
  })
})

/** The stores of a node: those that runs are written to fail while it is cut off. */
const cuttable = (shared: Context.Context<Shared>, line: { readonly cut: boolean }): Context.Context<Shared> => {
  const through = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | StoreUnavailable> =>
    Effect.suspend(
      (): Effect.Effect<A, E | StoreUnavailable> =>
        line.cut ? Effect.fail(new StoreUnavailable({ operation: "anything", cause: "cut off" })) : effect
    )
  const journal = Context.get(shared, JournalStore)
  const admissions = Context.get(shared, AdmissionStore)
  const control = Context.get(shared, RunControlStore)
  return shared.pipe(
    Context.add(JournalStore, {
      commitsMax: journal.commitsMax,
      commit: (...args) => through(journal.commit(...args)),
      claim: (...args) => through(journal.claim(...args)),
      unpark: (...args) => through(journal.unpark(...args)),
      parked: (...args) => through(journal.parked(...args)),
      reap: (...args) => through(journal.reap(...args)),
      look: (...args) => through(journal.look(...args)),
      leave: (...args) => through(journal.leave(...args)),
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
      log: (...args) => through(control.log(...args)),
      ended: (...args) => through(control.ended(...args)),
      redeliver: (...args) => through(control.redeliver(...args))
    })
  )
}
