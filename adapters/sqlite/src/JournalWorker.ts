/**
 * The journal's thread: a connection of its own, and the journal of `@weft/sql` on it.
 *
 * A commit waits for the disk. Here it holds up nobody.
 */
import { parentPort } from "node:worker_threads"
import { AdmissionStore, JournalStore, RunControlStore, TickStore } from "@weft/core"
import { Database, journalStatements, journalStore, type Rows, sqlite } from "@weft/sql"
import { Cause, Context, Effect, Layer, ManagedRuntime } from "effect"
import { SqlError } from "effect/sql"
import { toClaimRows } from "./ClaimRows.ts"
import { Commits } from "./Commits.ts"
import { reasonOf } from "./Connection.ts"
import type { Answer, Call, JournalThreadData, Reply, Request } from "./JournalProtocol.ts"
import { clientOf, connect } from "./SqliteClient.ts"
import { WriteTurn } from "./WriteTurn.ts"

class Committing extends Context.Service<Committing, Commits>()("@weft/sqlite/JournalWorker/Committing") {}

/** Both use the same connection, or each would have to read again what the other wrote. */
const opened = (data: JournalThreadData) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const turn = new WriteTurn(data.turn)
      const connection = yield* connect(data)
      const client = yield* clientOf(connection, turn.journal)
      const database = Database.of({ dialect: sqlite, writer: client, reader: client, exclusive: true })
      const commits = new Commits(connection.database, journalStatements(database), turn)
      return Context.make(Database, database).pipe(Context.add(Committing, commits))
    })
  )

const runtimeOf = (data: JournalThreadData) => ManagedRuntime.make(journalStore.pipe(Layer.provideMerge(opened(data))))

type Others = Exclude<Call, { readonly _tag: "Commit" }>

const answer = Effect.fnUntraced(function* (call: Others) {
  const journal = yield* JournalStore
  const admissions = yield* AdmissionStore
  const control = yield* RunControlStore
  const ticks = yield* TickStore
  switch (call._tag) {
    case "Claim":
      return { _tag: "Claimed", result: toClaimRows(yield* journal.claim(call.request)) } as const
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

const answerOrReason = (call: Others): Effect.Effect<Answer, never, Stores> =>
  answer(call).pipe(
    Effect.catchTag("StoreUnavailable", ({ cause }) =>
      Effect.succeed({ _tag: "Unavailable", reason: textOf(cause) } as const)
    ),
    Effect.catchCause((cause) => Effect.succeed({ _tag: "Died", reason: Cause.pretty(cause) } as const))
  )

/** What SQLite itself said: only text goes from thread to thread. */
const textOf = (cause: unknown): string => {
  if (SqlError.isSqlError(cause)) return textOf(cause.reason.cause)
  return cause instanceof Error ? cause.message : String(cause)
}

const committed = (commits: Commits, rows: Rows): Answer => {
  try {
    return { _tag: "Committed", uncounted: commits.apply(rows) }
  } catch (cause) {
    return { _tag: reasonOf(cause).isRetryable ? "Unavailable" : "Died", reason: textOf(cause) }
  }
}

let runtime: ReturnType<typeof runtimeOf> | undefined
let commits: Commits | undefined
const waiting: Array<Request> = []
let isAtWork = false

/**
 * Answers what waits, one after the other: a commit happens on the spot, but others may pause within a transaction.
 * Fails where the database cannot be opened: then the thread ends, and the main thread starts anew when it is asked.
 */
const work = async (): Promise<void> => {
  isAtWork = true
  for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
    if (request._tag === "Open") {
      runtime = runtimeOf(request.data)
      continue
    }
    if (request._tag === "Close" || runtime === undefined) {
      parentPort?.close()
      return runtime?.dispose()
    }
    commits ??= await runtime.runPromise(Committing)
    const { id, call } = request
    const answer =
      call._tag === "Commit" ? committed(commits, call.rows) : await runtime.runPromise(answerOrReason(call))
    parentPort?.postMessage({ id, answer } satisfies Reply)
  }
  isAtWork = false
}

parentPort?.on("message", (request: Request) => {
  waiting.push(request)
  if (!isAtWork) void work()
})
