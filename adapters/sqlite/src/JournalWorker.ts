/**
 * The journal's thread: a connection of its own, and the journal of `@weft/sql` on it.
 *
 * A commit waits for the disk. Here it holds up nobody.
 */
import { parentPort, workerData } from "node:worker_threads"
import { AdmissionStore, JournalStore, RunControlStore, TickStore } from "@weft/core"
import { Database, journalStore, sqlite } from "@weft/sql"
import { Cause, Effect, Layer, ManagedRuntime } from "effect"
import type { Answer, Call, JournalThreadData, Reply, Request } from "./JournalProtocol.ts"
import { open } from "./SqliteClient.ts"

const options: JournalThreadData = workerData

const database = Layer.effect(
  Database,
  Effect.map(open(options), (client) => ({ dialect: sqlite, writer: client, reader: client, exclusive: true }))
)

const runtime = ManagedRuntime.make(journalStore.pipe(Layer.provide(database)))

const answer = Effect.fnUntraced(function* (call: Call) {
  const journal = yield* JournalStore
  const admissions = yield* AdmissionStore
  const control = yield* RunControlStore
  const ticks = yield* TickStore
  switch (call._tag) {
    case "Commit":
      return { _tag: "Committed", counted: yield* journal.commit(call.entries, call.lease) } as const
    case "Claim":
      return { _tag: "Claimed", result: yield* journal.claim(call.request) } as const
    case "Reap":
      return { _tag: "Reaped", runs: yield* journal.reap(call.nodeId, call.now, call.limit, call.own) } as const
    case "Look":
      return { _tag: "Seen", sight: yield* journal.look(call.nodeId, call.now) } as const
    case "Purge":
      return { _tag: "Counted", count: yield* journal.purge(call.envId, call.before, call.limit) } as const
    case "Unpark":
      return { _tag: "Counted", count: yield* journal.unpark(call.groups, call.now) } as const
    case "Parked":
      return { _tag: "Groups", groups: yield* journal.parked(call.after, call.limit) } as const
    case "Admit":
      return { _tag: "Admitted", admitted: yield* admissions.admit(call.admission) } as const
    case "Earlier":
      return { _tag: "Request", earlier: yield* admissions.earlier(call.envId, call.key, call.now) } as const
    case "Forget":
      return { _tag: "Counted", count: yield* admissions.forget(call.now, call.limit) } as const
    case "Cancel":
      return { _tag: "Cancelled", runs: yield* control.cancel(call.envId, call.which, call.at, call.limit) } as const
    case "Log":
      return { _tag: "Logged", statuses: yield* control.log(call.logs) } as const
    case "EndedOf":
      return { _tag: "RunIds", ids: yield* control.ended(call.runs) } as const
    case "Redeliver":
      yield* control.redeliver(call.delivery)
      return { _tag: "Done" } as const
    case "Fire":
      return { _tag: "Fired", schedules: yield* ticks.fire(call.ticks) } as const
  }
})

type Stores = JournalStore | AdmissionStore | RunControlStore | TickStore

const answerOrReason = (call: Call): Effect.Effect<Answer, never, Stores> =>
  answer(call).pipe(
    Effect.catchTag("StoreUnavailable", ({ cause }) =>
      Effect.succeed({ _tag: "Unavailable", reason: textOf(cause) } as const)
    ),
    Effect.catchCause((cause) => Effect.succeed({ _tag: "Died", reason: Cause.pretty(cause) } as const))
  )

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

parentPort?.on("message", (request: Request) => {
  if (request._tag === "Close") {
    parentPort?.close()
    void runtime.dispose()
    return
  }
  void runtime.runPromise(answerOrReason(request.call)).then(
    (reply) => parentPort?.postMessage({ id: request.id, answer: reply } satisfies Reply),
    // The database could not be opened: end, so that the main thread starts anew when it is asked again.
    (cause) => {
      throw cause
    }
  )
})
