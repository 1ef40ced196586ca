/** Prints logs and results of runs, once or while they are running. */
import type { LogEntry, Run } from "@weft/client"
import { Deferred, Effect, Schedule, Semaphore, Stream } from "effect"
import { Api } from "../../connection/Api.ts"
import type { Failure } from "../../Failure.ts"
import { toFunctionName } from "../runs/RunText.ts"

export interface RunPrinter {
  /** True if runs of this function `ns/name` of the project are printed. */
  readonly accepts: (project: string, fn: string) => boolean
  readonly entry: (run: Run, fn: string, entry: LogEntry) => Effect.Effect<void>
  readonly end: (run: Run, fn: string) => Effect.Effect<void>
}

/** Maximum number of concurrent requests. */
const concurrency = 4

/** Prints runs in order, each with its log until now. */
export const showRuns = (ids: ReadonlyArray<string>, printer: RunPrinter) =>
  Stream.fromIterable(ids).pipe(
    Stream.mapEffect((id) => Effect.all([fetchFunctionName(id), fetchRun(id, 0)]), { concurrency }),
    Stream.runForEach(([fn, { run, entries }]) => show(printer, run, fn, entries))
  )

/** Prints a run until it has ended. */
export const followRun = (id: string, printer: RunPrinter) =>
  Effect.flatMap(fetchFunctionName(id), (fn) => follow(id, fn, printer, Effect.sleep("500 millis")))

export interface Connection {
  /** Called when runs that start from now on are printed. */
  readonly onOpen?: () => void
  readonly onInterruption: (error: Error) => void
}

/** Prints all runs of the environment that start from now on, until interrupted. */
export const followAll = Effect.fnUntraced(function* (printer: RunPrinter, connection: Connection) {
  const api = yield* Api
  const requestSlots = yield* Semaphore.make(concurrency)
  const scope = yield* Effect.scope
  const running = new Map<string, Deferred.Deferred<void>>()

  /** Follows one run: reads its log once a second, and when it has ended. */
  const start = Effect.fnUntraced(function* (id: string) {
    const ended = yield* Deferred.make<void>()
    running.set(id, ended)
    const pause = Effect.sleep("50 millis").pipe(
      Effect.andThen(Effect.race(Deferred.await(ended), Effect.sleep("1 second")))
    )
    yield* pause.pipe(
      Effect.andThen(requestSlots.withPermit(retryTransient(fetchFunctionName(id)))),
      Effect.flatMap((fn) => follow(id, fn, printer, pause, requestSlots)),
      // A run may be deleted by now, or not readable with this key. The others continue.
      Effect.ignore,
      Effect.forkIn(scope)
    )
    return ended
  })

  yield* api
    .stream((weft, options) => weft.streams.watchEnv({ ...options, ...connection }))
    .pipe(
      Stream.runForEach(
        Effect.fnUntraced(function* ({ event, data }) {
          if (!("run_id" in data)) return
          const ended = running.get(data.run_id) ?? (yield* start(data.run_id))
          if (!ends.has(event)) return
          running.delete(data.run_id)
          yield* Deferred.succeed(ended, undefined)
        })
      )
    )
}, Effect.scoped)

/** Messages of runs that have ended. */
const ends: ReadonlySet<string> = new Set(["run:stop", "run:fail", "run:cancel"])

/** Prints the new log entries of a run after each `pause`, until it has ended. */
const follow = Effect.fnUntraced(function* (
  id: string,
  fn: string,
  printer: RunPrinter,
  pause: Effect.Effect<void>,
  requestSlots: Semaphore.Semaphore = Semaphore.makeUnsafe(1)
) {
  for (let seen = 0; ; ) {
    const { run, entries } = yield* requestSlots.withPermit(retryTransient(fetchRun(id, seen)))
    if (!printer.accepts(run.project_name, fn)) return
    seen += entries.length
    yield* show(printer, run, fn, entries)
    if (run.status !== "running") return
    yield* pause
  }
})

const transientCodes: ReadonlySet<string> = new Set([
  "no_answer",
  "no_server",
  "internal_server_error",
  "rate_limit_exceeded"
])

/** Retries while the server is unavailable, so that the position in the log is kept. */
const retryTransient = <A>(request: Effect.Effect<A, Failure, Api>): Effect.Effect<A, Failure, Api> =>
  Effect.retry(request, { while: ({ code }) => transientCodes.has(code), schedule: Schedule.spaced("1 second") })

const show = Effect.fnUntraced(function* (printer: RunPrinter, run: Run, fn: string, entries: ReadonlyArray<LogEntry>) {
  if (!printer.accepts(run.project_name, fn)) return
  for (const entry of entries) yield* printer.entry(run, fn, entry)
  if (run.status !== "running") yield* printer.end(run, fn)
})

const fetchFunctionName = Effect.fnUntraced(function* (id: string) {
  const api = yield* Api
  return toFunctionName(yield* api.request((weft, options) => weft.runs.usage(id, options)))
})

/** Reads the run and its log entries from position `seen`. */
const fetchRun = Effect.fnUntraced(function* (id: string, seen: number) {
  const api = yield* Api
  // The run first: if it has ended, its log is complete.
  const run = yield* api.request((weft, options) => weft.runs.get(id, options))
  const entries = yield* Stream.runCollect(api.stream((weft, options) => weft.runs.logs(id, { offset: seen }, options)))
  return { run, entries }
})
