/**
 * `JournalStore`, `AdmissionStore`, `RunControlStore`, `TickStore` and the writes of `WorkflowStore` in a worker thread.
 *
 * A durable commit waits for the disk, 0.3 ms to several milliseconds, and SQLite blocks its thread meanwhile. The main
 * thread would serve no request during that time. Entries are sent as rows, everything else as objects: structured
 * cloning costs the main thread a third of what JSON does.
 */
import type { Worker } from "node:worker_threads"
import { StoreUnavailable } from "@weft/core"
import { AdmissionStore, InFlightMap, JournalStore, RunControlStore, TickStore } from "@weft/core/adapter"
import type { ArrivalWriter } from "@weft/sql"
import { Context, Effect, type Scope } from "effect"
import { takeThread } from "./ahead.ts"
import { toRows } from "./EntryRows.ts"
import type { Answer, Call, JournalThreadData, Reply, Request } from "./JournalProtocol.ts"
import { unpackClaims } from "./PackedClaims.ts"
import type { ConnectionOptions } from "./SqliteClient.ts"
import { WriteLock } from "./WriteLock.ts"

/** Starts the thread. It opens the file on its first call, and shares the write lock with the main thread. */
export const start = (
  options: ConnectionOptions,
  lock: WriteLock = new WriteLock()
): Effect.Effect<JournalThread, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new JournalThread(options, lock)),
    (thread) => Effect.promise(() => thread.close())
  )

export const makeStores = (
  thread: JournalThread
): Context.Context<JournalStore | AdmissionStore | RunControlStore | TickStore> =>
  Context.make(JournalStore, makeJournal(thread)).pipe(
    Context.add(AdmissionStore, makeAdmissions(thread)),
    Context.add(RunControlStore, makeRunControl(thread)),
    Context.add(TickStore, makeTicks(thread))
  )

const makeJournal = (thread: JournalThread) =>
  JournalStore.of({
    // One commit waits for the disk while the next is in transfer. Otherwise the thread would idle after each.
    commitsMax: 2,

    commit: (entries) =>
      Effect.suspend(() =>
        Effect.flatMap(callThread(thread, "commit", { _tag: "Commit", rows: toRows(entries) }), (answer) =>
          answer._tag === "Committed" ? Effect.succeed(toCounted(entries.length, answer)) : unexpected(answer)
        )
      ),

    count: (batch) =>
      Effect.flatMap(callThread(thread, "count", { _tag: "Count", batch }), (answer) =>
        answer._tag === "Done" ? Effect.void : unexpected(answer)
      ),

    claim: (request) =>
      Effect.flatMap(callThread(thread, "claim", { _tag: "Claim", request }), (answer) =>
        answer._tag === "Claimed" ? Effect.succeed(unpackClaims(answer.result, request)) : unexpected(answer)
      ),

    unpark: (groups, now) => count(thread, "unpark", { _tag: "Unpark", groups, now }),

    parked: (after, limit) =>
      Effect.flatMap(callThread(thread, "parked", { _tag: "Parked", after, limit }), (answer) =>
        answer._tag === "Groups" ? Effect.succeed(answer.groups) : unexpected(answer)
      ),

    reap: (nodeId, now, limit, own) =>
      Effect.flatMap(callThread(thread, "reap", { _tag: "Reap", nodeId, now, limit, own }), (answer) =>
        answer._tag === "Reaped" ? Effect.succeed(answer.runs) : unexpected(answer)
      ),

    findPendingWork: (nodeId, now) =>
      Effect.flatMap(callThread(thread, "look", { _tag: "Look", nodeId, now }), (answer) =>
        answer._tag === "Seen" ? Effect.succeed(answer.pending) : unexpected(answer)
      ),

    // One process owns the file, so there are no leases.
    endLease: () => Effect.void,

    purge: (envId, before, limit, of) => count(thread, "purge", { _tag: "Purge", envId, before, limit, of }),

    purgeWhole: () => Effect.succeed(0)
  })

const makeAdmissions = (thread: JournalThread) =>
  AdmissionStore.of({
    admit: (admission) =>
      Effect.flatMap(callThread(thread, "admit", { _tag: "Admit", admission }), (answer) =>
        answer._tag === "Admitted" ? Effect.succeed(answer.admitted) : unexpected(answer)
      ),

    earlier: (envId, key, now) =>
      Effect.flatMap(callThread(thread, "earlier", { _tag: "Earlier", envId, key, now }), (answer) =>
        answer._tag === "Request" ? Effect.succeed(answer.earlier) : unexpected(answer)
      ),

    forget: (now, limit) => count(thread, "forget", { _tag: "Forget", now, limit })
  })

const makeRunControl = (thread: JournalThread) =>
  RunControlStore.of({
    cancel: (envId, which, at, limit) =>
      Effect.flatMap(callThread(thread, "cancel", { _tag: "Cancel", envId, which, at, limit }), (answer) =>
        answer._tag === "Cancelled" ? Effect.succeed(answer.runs) : unexpected(answer)
      ),

    requestCleanup: ({ env_id, run_id }, until, at) =>
      Effect.flatMap(
        callThread(thread, "requestCleanup", { _tag: "RequestCleanup", run: { env_id, run_id }, until, at }),
        (answer) => (answer._tag === "CleanupRequested" ? Effect.succeed(answer.run) : unexpected(answer))
      ),

    discard: (envId, which, after, limit) =>
      Effect.flatMap(callThread(thread, "discard", { _tag: "Discard", envId, which, after, limit }), (answer) =>
        answer._tag === "Discarded" ? Effect.succeed(answer.result) : unexpected(answer)
      ),

    log: (logs) =>
      Effect.flatMap(callThread(thread, "log", { _tag: "Log", logs }), (answer) =>
        answer._tag === "Logged" ? Effect.succeed(answer.statuses) : unexpected(answer)
      ),

    ended: (runs) =>
      Effect.flatMap(callThread(thread, "ended", { _tag: "FindEnded", runs }), (answer) =>
        answer._tag === "RunIds" ? Effect.succeed(answer.ids) : unexpected(answer)
      ),

    redeliver: (delivery, event) =>
      Effect.flatMap(callThread(thread, "redeliver", { _tag: "Redeliver", delivery, event }), (answer) =>
        answer._tag === "Done" ? Effect.void : unexpected(answer)
      ),

    renew: (renewal) =>
      Effect.flatMap(callThread(thread, "renew", { _tag: "Renew", renewal }), (answer) =>
        answer._tag === "Renewed" ? Effect.succeed(answer.isCounted) : unexpected(answer)
      ),

    advance: (step) =>
      Effect.flatMap(callThread(thread, "advance", { _tag: "Advance", step }), (answer) =>
        answer._tag === "Advanced" ? Effect.succeed(answer.progress) : unexpected(answer)
      ),

    fork: (fork) =>
      Effect.flatMap(callThread(thread, "fork", { _tag: "Fork", fork }), (answer) =>
        answer._tag === "Done" ? Effect.void : unexpected(answer)
      )
  })

const makeTicks = (thread: JournalThread) =>
  TickStore.of({
    fire: (ticks) =>
      Effect.flatMap(callThread(thread, "fire", { _tag: "Fire", ticks }), (answer) =>
        answer._tag === "Fired" ? Effect.succeed(answer.schedules) : unexpected(answer)
      )
  })

/** Returns the writer of a `WorkflowStore`. */
export const makeArrivals =
  (thread: JournalThread): ArrivalWriter =>
  (arrival) =>
    Effect.flatMap(callThread(thread, "arrive", { _tag: "Arrive", arrival }), (answer) =>
      answer._tag === "RunIds" ? Effect.succeed(answer.ids) : unexpected(answer)
    )

const count = (thread: JournalThread, operation: string, call: Call): Effect.Effect<number, StoreUnavailable> =>
  Effect.flatMap(callThread(thread, operation, call), (answer) =>
    answer._tag === "Counted" ? Effect.succeed(answer.count) : unexpected(answer)
  )

/** The running thread and its pending calls. A thread that dies is replaced at the next call. */
class JournalThread {
  readonly #data: JournalThreadData
  readonly #lock: WriteLock
  readonly #pending = new InFlightMap<number, (answer: Answer) => void>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(options: ConnectionOptions, lock: WriteLock) {
    this.#data = { ...options, lock: lock.shared }
    this.#lock = lock
    this.#worker = this.#start()
  }

  /** Calls the thread. The returned function stops waiting for the answer; it does not cancel the call. */
  call(call: Call, done: (answer: Answer) => void): () => void {
    const id = ++this.#lastId
    this.#worker ??= this.#start()
    this.#pending.set(id, done)
    this.#worker.postMessage({ _tag: "Call", id, call } satisfies Request)
    return () => void this.#pending.delete(id)
  }

  /** Waits until the thread has completed its calls and closed the database. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    const ended = new Promise((resolve) => worker.once("exit", resolve))
    worker.postMessage({ _tag: "Close" } satisfies Request)
    await ended
  }

  #start(): Worker {
    const worker = takeThread()
    worker.postMessage({ _tag: "Open", data: this.#data } satisfies Request)
    let reason = "The journal's thread has ended"
    worker.on("message", ({ id, answer }: Reply) => {
      this.#pending.get(id)?.(answer)
      this.#pending.delete(id)
    })
    worker.on("error", (error) => {
      reason = error instanceof Error ? error.message : String(error)
    })
    worker.on("exit", () => {
      void this.#lock.releaseJournal()
      if (this.#worker !== worker) return
      this.#worker = undefined
      const waiting = this.#pending.values()
      this.#pending.clear()
      for (const done of waiting) done({ _tag: "Unavailable", reason })
    })
    return worker
  }
}

const callThread = (thread: JournalThread, operation: string, call: Call): Effect.Effect<Answer, StoreUnavailable> =>
  Effect.callback((resume) => {
    const cancel = thread.call(call, (answer) =>
      resume(
        answer._tag === "Unavailable"
          ? Effect.fail(new StoreUnavailable({ operation, cause: new Error(answer.reason) }))
          : Effect.succeed(answer)
      )
    )
    return Effect.sync(cancel)
  })

/** Returns true for each entry that took effect, which is nearly always all of them. */
const toCounted = (count: number, { uncounted }: Extract<Answer, { _tag: "Committed" }>): ReadonlyArray<boolean> => {
  const counted = new Array<boolean>(count).fill(true)
  for (const index of uncounted) counted[index] = false
  return counted
}

const unexpected = (answer: Answer): Effect.Effect<never> =>
  Effect.die(new Error(answer._tag === "Died" ? answer.reason : `The journal's thread answered ${answer._tag}`))
