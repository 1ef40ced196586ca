/** Runs as they go on: what they log, and how they end. */
import type { LogEntry, Run } from "@weft/client"
import { Deferred, Effect, Schedule, Semaphore, Stream } from "effect"
import { Api } from "../../connection/Api.ts"
import type { Failure } from "../../Failure.ts"
import { functionOf } from "../runs/RunText.ts"

export interface Showing {
  /** Whether runs of this function are to be shown: `ns/name` of the project. */
  readonly isWanted: (project: string, fn: string) => boolean
  readonly entry: (run: Run, fn: string, entry: LogEntry) => Effect.Effect<void>
  readonly end: (run: Run, fn: string) => Effect.Effect<void>
}

/** How many runs are asked about at once. */
const concurrency = 4

/** One run after the other, each with all that it has logged until now. */
export const showRuns = (ids: ReadonlyArray<string>, showing: Showing) =>
  Stream.fromIterable(ids).pipe(
    Stream.mapEffect((id) => Effect.all([functionOfRun(id), lookAt(id, 0)]), { concurrency }),
    Stream.runForEach(([fn, { run, entries }]) => show(showing, run, fn, entries))
  )

/** Until the run has ended. */
export const followRun = (id: string, showing: Showing) =>
  Effect.flatMap(functionOfRun(id), (fn) => follow(id, fn, showing, Effect.sleep("500 millis")))

/** All runs of the environment that begin from now on, for as long as it is not interrupted. */
export const followAll = Effect.fnUntraced(function* (showing: Showing, onInterruption: (error: Error) => void) {
  const api = yield* Api
  const room = yield* Semaphore.make(concurrency)
  const scope = yield* Effect.scope
  const running = new Map<string, Deferred.Deferred<void>>()

  /** What a run logs is asked for once a second while it goes on, and when it has ended. */
  const begin = Effect.fnUntraced(function* (id: string) {
    const ended = yield* Deferred.make<void>()
    running.set(id, ended)
    const pause = Effect.sleep("50 millis").pipe(
      Effect.andThen(Effect.race(Deferred.await(ended), Effect.sleep("1 second")))
    )
    yield* pause.pipe(
      Effect.andThen(room.withPermit(patient(functionOfRun(id)))),
      Effect.flatMap((fn) => follow(id, fn, showing, pause, room)),
      // A run may be gone by now, or none of ours to read: the others go on.
      Effect.ignore,
      Effect.forkIn(scope)
    )
    return ended
  })

  yield* api
    .all((weft, asking) => weft.streams.watchEnv({ ...asking, onInterruption }))
    .pipe(
      Stream.runForEach(
        Effect.fnUntraced(function* ({ event, data }) {
          if (!("run_id" in data)) return
          const ended = running.get(data.run_id) ?? (yield* begin(data.run_id))
          if (event === "run:start") return
          running.delete(data.run_id)
          yield* Deferred.succeed(ended, undefined)
        })
      )
    )
}, Effect.scoped)

/** Shows what there is of a run, and again after each `pause`, until it has ended. */
const follow = Effect.fnUntraced(function* (
  id: string,
  fn: string,
  showing: Showing,
  pause: Effect.Effect<void>,
  room: Semaphore.Semaphore = Semaphore.makeUnsafe(1)
) {
  for (let seen = 0; ; ) {
    const { run, entries } = yield* room.withPermit(patient(lookAt(id, seen)))
    if (!showing.isWanted(run.project_name, fn)) return
    seen += entries.length
    yield* show(showing, run, fn, entries)
    if (run.status !== "running") return
    yield* pause
  }
})

const passing: ReadonlySet<string> = new Set(["no_answer", "no_server", "internal_server_error", "rate_limit_exceeded"])

/** Waits for a server that is away: where a run is would be forgotten otherwise. */
const patient = <A>(request: Effect.Effect<A, Failure, Api>): Effect.Effect<A, Failure, Api> =>
  Effect.retry(request, { while: ({ code }) => passing.has(code), schedule: Schedule.spaced("1 second") })

const show = Effect.fnUntraced(function* (showing: Showing, run: Run, fn: string, entries: ReadonlyArray<LogEntry>) {
  if (!showing.isWanted(run.project_name, fn)) return
  for (const entry of entries) yield* showing.entry(run, fn, entry)
  if (run.status !== "running") yield* showing.end(run, fn)
})

const functionOfRun = Effect.fnUntraced(function* (id: string) {
  const api = yield* Api
  return functionOf(yield* api.ask((weft, asking) => weft.runs.usage(id, asking)))
})

/** The run, and what it has logged since it was looked at. */
const lookAt = Effect.fnUntraced(function* (id: string, seen: number) {
  const api = yield* Api
  // The run first: when it had ended, what it has logged is whole.
  const run = yield* api.ask((weft, asking) => weft.runs.get(id, asking))
  const entries = yield* Stream.runCollect(api.all((weft, asking) => weft.runs.logs(id, { offset: seen }, asking)))
  return { run, entries }
})
