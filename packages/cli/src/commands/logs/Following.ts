/** Runs as they go on: what they log, and how they end. */
import type { LogEntry, Run } from "@weft/client"
import { Deferred, Effect, Semaphore, Stream } from "effect"
import { Api } from "../../connection/Api.ts"
import { functionOf } from "../runs/RunText.ts"

export interface Showing {
  /** Whether runs of this function are to be shown: `ns/name` of the project. */
  readonly isWanted: (project: string, fn: string) => boolean
  readonly entry: (run: Run, fn: string, entry: LogEntry) => Effect.Effect<void>
  readonly end: (run: Run, fn: string) => Effect.Effect<void>
}

/** One run after the other, each with all that it has logged until now. */
export const showRuns = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, showing: Showing) {
  for (const id of ids) yield* follow(id, showing, Effect.succeed(false))
})

/** Until the run has ended. */
export const followRun = (id: string, showing: Showing) =>
  follow(id, showing, Effect.as(Effect.sleep("500 millis"), true))

/** How many runs are asked about at once. */
const concurrency = 4

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
      Effect.andThen(Effect.race(Deferred.await(ended), Effect.sleep("1 second"))),
      Effect.as(true)
    )
    yield* Effect.andThen(pause, follow(id, showing, pause, room)).pipe(
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

/** Shows what there is of a run, and again after each `pause` until it has ended or the pause says that it is enough. */
const follow = Effect.fnUntraced(function* (
  id: string,
  showing: Showing,
  pause: Effect.Effect<boolean>,
  room: Semaphore.Semaphore = Semaphore.makeUnsafe(1)
) {
  const api = yield* Api
  const usage = yield* room.withPermit(api.ask((weft, asking) => weft.runs.usage(id, asking)))
  const fn = functionOf(usage)
  for (let seen = 0; ; ) {
    const { run, entries } = yield* room.withPermit(lookAt(id, seen))
    if (!showing.isWanted(run.project_name, fn)) return
    seen += entries.length
    for (const entry of entries) yield* showing.entry(run, fn, entry)
    if (run.status !== "running") return yield* showing.end(run, fn)
    if (!(yield* pause)) return
  }
})

/** The run, and what it has logged since it was looked at. */
const lookAt = Effect.fnUntraced(function* (id: string, seen: number) {
  const api = yield* Api
  // The run first: when it had ended, what it has logged is whole.
  const run = yield* api.ask((weft, asking) => weft.runs.get(id, asking))
  const entries = yield* Stream.runCollect(api.all((weft, asking) => weft.runs.logs(id, { offset: seen }, asking)))
  return { run, entries }
})
