/**
 * Entry of the journal's thread: the journal of `@weft/sql` on a connection of its own. Commits wait for the disk here
 * without blocking the main thread.
 */
import { parentPort } from "node:worker_threads"
import { AdmissionStore, JournalStore, RunControlStore, TickStore } from "@weft/core/adapter"
import { arrivalWriter, Database, journalStatements, journalStore, type Rows, sqlite } from "@weft/sql"
import { Cause, Context, Effect, Layer, ManagedRuntime } from "effect"
import { SqlError } from "effect/sql"
import { Commits } from "./Commits.ts"
import { toSqlErrorReason } from "./Connection.ts"
import type { Answer, Call, JournalThreadData, Reply, Request } from "./JournalProtocol.ts"
import { packClaims } from "./PackedClaims.ts"
import { connect, makeClient } from "./SqliteClient.ts"
import { WriteLock } from "./WriteLock.ts"

class JournalCommits extends Context.Service<JournalCommits, Commits>()("@weft/sqlite/JournalCommits") {}

class Arrivals extends Context.Service<Arrivals, ReturnType<typeof arrivalWriter>>()("@weft/sqlite/Arrivals") {}

/** Commits and the other stores share one connection, so that they share its page cache. */
const databaseLayer = (data: JournalThreadData) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const lock = new WriteLock(data.lock)
      const connection = yield* connect(data)
      const client = yield* makeClient(connection, lock.journal)
      const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: true })
      const commits = new Commits(connection.database, journalStatements(database), lock)
      return Context.make(Database, database).pipe(
        Context.add(JournalCommits, commits),
        Context.add(Arrivals, arrivalWriter(database))
      )
    })
  )

const makeRuntime = (data: JournalThreadData) =>
  ManagedRuntime.make(journalStore.pipe(Layer.provideMerge(databaseLayer(data))))

type Others = Exclude<Call, { readonly _tag: "Commit" }>

const answer = Effect.fnUntraced(function* (call: Others) {
  const journal = yield* JournalStore
  const admissions = yield* AdmissionStore
  const control = yield* RunControlStore
  const ticks = yield* TickStore
  switch (call._tag) {
    case "Count":
      yield* journal.count(call.batch)
      return { _tag: "Done" } as const
    case "Claim":
      return { _tag: "Claimed", result: packClaims(yield* journal.claim(call.request)) } as const
    case "Reap":
      return { _tag: "Reaped", runs: yield* journal.reap(call.nodeId, call.now, call.limit, call.own) } as const
    case "Look":
      return { _tag: "Seen", pending: yield* journal.findPendingWork(call.nodeId, call.now) } as const
    case "Purge":
      return { _tag: "Counted", count: yield* journal.purge(call.envId, call.before, call.limit, call.of) } as const
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
    case "RequestCleanup":
      return { _tag: "CleanupRequested", run: yield* control.requestCleanup(call.run, call.until, call.at) } as const
    case "Discard":
      return {
        _tag: "Discarded",
        result: yield* control.discard(call.envId, call.which, call.after, call.limit)
      } as const
    case "Log":
      return { _tag: "Logged", statuses: yield* control.log(call.logs) } as const
    case "FindEnded":
      return { _tag: "RunIds", ids: yield* control.ended(call.runs) } as const
    case "Redeliver":
      yield* control.redeliver(call.delivery, call.event)
      return { _tag: "Done" } as const
    case "Renew":
      return { _tag: "Renewed", isCounted: yield* control.renew(call.renewal) } as const
    case "Fork":
      yield* control.fork(call.fork)
      return { _tag: "Done" } as const
    case "Advance":
      return { _tag: "Advanced", progress: yield* control.advance(call.step) } as const
    case "Arrive":
      return { _tag: "RunIds", ids: yield* (yield* Arrivals)(call.arrival) } as const
    case "Fire":
      return { _tag: "Fired", schedules: yield* ticks.fire(call.ticks) } as const
  }
})

type Stores = JournalStore | AdmissionStore | RunControlStore | TickStore | Arrivals

const answerOrReason = (call: Others): Effect.Effect<Answer, never, Stores> =>
  answer(call).pipe(
    Effect.catchTag("StoreUnavailable", ({ cause }) =>
      Effect.succeed({ _tag: "Unavailable", reason: toMessage(cause) } as const)
    ),
    Effect.catchCause((cause) => Effect.succeed({ _tag: "Died", reason: Cause.pretty(cause) } as const))
  )

/** Returns SQLite's own message. Only text is sent between threads. */
const toMessage = (cause: unknown): string => {
  if (SqlError.isSqlError(cause)) return toMessage(cause.reason.cause)
  return cause instanceof Error ? cause.message : String(cause)
}

const committed = (commits: Commits, rows: Rows): Answer => {
  try {
    return { _tag: "Committed", uncounted: commits.apply(rows) }
  } catch (cause) {
    return { _tag: toSqlErrorReason(cause).isRetryable ? "Unavailable" : "Died", reason: toMessage(cause) }
  }
}

let runtime: ReturnType<typeof makeRuntime> | undefined
let commits: Commits | undefined
const pending: Array<Request> = []
let isProcessing = false

/**
 * Processes pending requests one after the other, because calls other than commits may suspend within a transaction.
 * Fails if the database cannot be opened. The thread then ends, and the next call starts another one.
 */
const processRequests = async (): Promise<void> => {
  isProcessing = true
  for (let request = pending.shift(); request !== undefined; request = pending.shift()) {
    if (request._tag === "Open") {
      runtime = makeRuntime(request.data)
      continue
    }
    if (request._tag === "Close" || runtime === undefined) {
      parentPort?.close()
      return runtime?.dispose()
    }
    commits ??= await runtime.runPromise(JournalCommits)
    const { id, call } = request
    const answer =
      call._tag === "Commit" ? committed(commits, call.rows) : await runtime.runPromise(answerOrReason(call))
    parentPort?.postMessage({ id, answer } satisfies Reply)
  }
  isProcessing = false
}

parentPort?.on("message", (request: Request) => {
  pending.push(request)
  if (!isProcessing) void processRequests()
})
