/**
 * `JournalStore`, `AdmissionStore`, `RunControlStore` and `TickStore` in a thread of their own.
 *
 * A durable commit waits for the disk, a third of a millisecond to several, and SQLite waits on the spot. In the
 * main thread that would be time in which no request is answered and no run goes on. Entries are handed over as rows,
 * all else as the objects that it is: cloning them costs the main thread a third of what JSON would.
 */
import type { Worker } from "node:worker_threads"
import { AdmissionStore, JournalStore, Roster, RunControlStore, StoreUnavailable, TickStore } from "@weft/core"
import { Context, Effect, type Scope } from "effect"
import { takeThread } from "./ahead.ts"
import { fromClaimRows } from "./ClaimRows.ts"
import { toRows } from "./EntryRows.ts"
import type { Answer, Call, JournalThreadData, Reply, Request } from "./JournalProtocol.ts"
import type { ConnectionOptions } from "./SqliteClient.ts"
import { WriteTurn } from "./WriteTurn.ts"

/** Begins the thread, which opens the file when it is first asked something, and writes when it is its turn. */
export const begin = (
  options: ConnectionOptions,
  turn: WriteTurn = new WriteTurn()
): Effect.Effect<JournalThread, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new JournalThread(options, turn)),
    (thread) => Effect.promise(() => thread.close())
  )

export const storesOf = (
  thread: JournalThread
): Context.Context<JournalStore | AdmissionStore | RunControlStore | TickStore> =>
  Context.make(JournalStore, journalOf(thread)).pipe(
    Context.add(AdmissionStore, admissionsOf(thread)),
    Context.add(RunControlStore, controlOf(thread)),
    Context.add(TickStore, ticksOf(thread))
  )

const journalOf = (thread: JournalThread) =>
  JournalStore.of({
    // One is with the disk while the next is on its way: else the thread would wait for the main thread after each.
    commitsMax: 2,

    commit: (entries) =>
      Effect.suspend(() =>
        Effect.flatMap(ask(thread, "commit", { _tag: "Commit", rows: toRows(entries) }), (answer) =>
          answer._tag === "Committed" ? Effect.succeed(countedOf(entries.length, answer)) : unexpected(answer)
        )
      ),

    claim: (request) =>
      Effect.flatMap(ask(thread, "claim", { _tag: "Claim", request }), (answer) =>
        answer._tag === "Claimed" ? Effect.succeed(fromClaimRows(answer.result, request)) : unexpected(answer)
      ),

    unpark: (groups, now) => count(thread, "unpark", { _tag: "Unpark", groups, now }),

    parked: (after, limit) =>
      Effect.flatMap(ask(thread, "parked", { _tag: "Parked", after, limit }), (answer) =>
        answer._tag === "Groups" ? Effect.succeed(answer.groups) : unexpected(answer)
      ),

    reap: (nodeId, now, limit, own) =>
      Effect.flatMap(ask(thread, "reap", { _tag: "Reap", nodeId, now, limit, own }), (answer) =>
        answer._tag === "Reaped" ? Effect.succeed(answer.runs) : unexpected(answer)
      ),

    look: (nodeId, now) =>
      Effect.flatMap(ask(thread, "look", { _tag: "Look", nodeId, now }), (answer) =>
        answer._tag === "Seen" ? Effect.succeed(answer.sight) : unexpected(answer)
      ),

    // One process owns the file: there are no leases.
    leave: () => Effect.void,

    purge: (envId, before, limit) => count(thread, "purge", { _tag: "Purge", envId, before, limit }),

    purgeWhole: () => Effect.succeed(0)
  })

const admissionsOf = (thread: JournalThread) =>
  AdmissionStore.of({
    admit: (admission) =>
      Effect.flatMap(ask(thread, "admit", { _tag: "Admit", admission }), (answer) =>
        answer._tag === "Admitted" ? Effect.succeed(answer.admitted) : unexpected(answer)
      ),

    earlier: (envId, key, now) =>
      Effect.flatMap(ask(thread, "earlier", { _tag: "Earlier", envId, key, now }), (answer) =>
        answer._tag === "Request" ? Effect.succeed(answer.earlier) : unexpected(answer)
      ),

    forget: (now, limit) => count(thread, "forget", { _tag: "Forget", now, limit })
  })

const controlOf = (thread: JournalThread) =>
  RunControlStore.of({
    cancel: (envId, which, at, limit) =>
      Effect.flatMap(ask(thread, "cancel", { _tag: "Cancel", envId, which, at, limit }), (answer) =>
        answer._tag === "Cancelled" ? Effect.succeed(answer.runs) : unexpected(answer)
      ),

    log: (logs) =>
      Effect.flatMap(ask(thread, "log", { _tag: "Log", logs }), (answer) =>
        answer._tag === "Logged" ? Effect.succeed(answer.statuses) : unexpected(answer)
      ),

    ended: (runs) =>
      Effect.flatMap(ask(thread, "ended", { _tag: "EndedOf", runs }), (answer) =>
        answer._tag === "RunIds" ? Effect.succeed(answer.ids) : unexpected(answer)
      ),

    redeliver: (delivery) =>
      Effect.flatMap(ask(thread, "redeliver", { _tag: "Redeliver", delivery }), (answer) =>
        answer._tag === "Done" ? Effect.void : unexpected(answer)
      )
  })

const ticksOf = (thread: JournalThread) =>
  TickStore.of({
    fire: (ticks) =>
      Effect.flatMap(ask(thread, "fire", { _tag: "Fire", ticks }), (answer) =>
        answer._tag === "Fired" ? Effect.succeed(answer.schedules) : unexpected(answer)
      )
  })

const count = (thread: JournalThread, operation: string, call: Call): Effect.Effect<number, StoreUnavailable> =>
  Effect.flatMap(ask(thread, operation, call), (answer) =>
    answer._tag === "Counted" ? Effect.succeed(answer.count) : unexpected(answer)
  )

/** The thread that runs now, and what it still owes. A thread that dies is replaced at the next call. */
class JournalThread {
  readonly #data: JournalThreadData
  readonly #turn: WriteTurn
  readonly #pending = new Roster<number, (answer: Answer) => void>()
  #worker: Worker | undefined
  #lastId = 0

  constructor(options: ConnectionOptions, turn: WriteTurn) {
    this.#data = { ...options, turn: turn.shared }
    this.#turn = turn
    this.#worker = this.#start()
  }

  /** Returns how to give up waiting; the call itself goes on. */
  call(call: Call, done: (answer: Answer) => void): () => void {
    const id = ++this.#lastId
    this.#worker ??= this.#start()
    this.#pending.set(id, done)
    this.#worker.postMessage({ _tag: "Call", id, call } satisfies Request)
    return () => void this.#pending.delete(id)
  }

  /** Lets the thread finish what it has begun, and waits until it has closed the database. */
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
      void this.#turn.giveUpJournal()
      if (this.#worker !== worker) return
      this.#worker = undefined
      const waiting = this.#pending.values()
      this.#pending.clear()
      for (const done of waiting) done({ _tag: "Unavailable", reason })
    })
    return worker
  }
}

const ask = (thread: JournalThread, operation: string, call: Call): Effect.Effect<Answer, StoreUnavailable> =>
  Effect.callback((resume) => {
    const giveUp = thread.call(call, (answer) =>
      resume(
        answer._tag === "Unavailable"
          ? Effect.fail(new StoreUnavailable({ operation, cause: new Error(answer.reason) }))
          : Effect.succeed(answer)
      )
    )
    return Effect.sync(giveUp)
  })

/** Nearly always every entry counts. */
const countedOf = (count: number, { uncounted }: Extract<Answer, { _tag: "Committed" }>): ReadonlyArray<boolean> => {
  const counted = new Array<boolean>(count).fill(true)
  for (const index of uncounted) counted[index] = false
  return counted
}

const unexpected = (answer: Answer): Effect.Effect<never> =>
  Effect.die(new Error(answer._tag === "Died" ? answer.reason : `The journal's thread answered ${answer._tag}`))
