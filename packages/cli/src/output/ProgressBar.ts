/** A progress bar on stderr; nothing if stderr is not a terminal. */
import { Clock, Effect, Schedule, Terminal } from "effect"
import { Output } from "./Output.ts"
import { progressLine } from "./ProgressLine.ts"

export interface ProgressMeter {
  /** Sets the bytes; `total` is null if it is unknown. */
  readonly set: (done: number, total: number | null) => void
}

/** Draws the bar every 100 ms until the scope ends, then removes it. */
export const progressBar = Effect.fnUntraced(function* (label: string) {
  const output = yield* Output
  const terminal = yield* Terminal.Terminal
  const begunMs = yield* Clock.currentTimeMillis
  let last: { readonly done: number; readonly total: number | null; readonly before: number } | null = null

  const draw = Effect.gen(function* () {
    if (last === null) return
    const elapsedMs = (yield* Clock.currentTimeMillis) - begunMs
    // Some terminals wrap a line that fills the last column.
    const width = (yield* terminal.columns) - 1
    yield* output.status(progressLine({ label, elapsedMs, ...last }, width))
  })
  yield* Effect.forkScoped(Effect.repeat(draw, Schedule.spaced("100 millis")))
  yield* Effect.addFinalizer(() => output.status(null))
  const meter: ProgressMeter = {
    set: (done, total) => {
      last = { done, total, before: last === null ? done : last.before }
    }
  }
  return meter
})
