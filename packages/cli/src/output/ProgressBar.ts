/** A progress bar on a terminal's stderr; nothing where nobody looks. */
import { Clock, Effect, Schedule, Terminal } from "effect"
import { Output } from "./Output.ts"
import { progressLine } from "./ProgressLine.ts"

export interface Meter {
  /** Bytes; `total` is null where only the end tells. */
  readonly set: (done: number, total: number | null) => void
}

/** Drawn ten times a second until the scope ends, and gone then. */
export const progressBar = Effect.fnUntraced(function* (label: string) {
  const output = yield* Output
  const terminal = yield* Terminal.Terminal
  const begunMs = yield* Clock.currentTimeMillis
  let last: { readonly done: number; readonly total: number | null; readonly before: number } | null = null

  const draw = Effect.gen(function* () {
    if (last === null) return
    const elapsedMs = (yield* Clock.currentTimeMillis) - begunMs
    // A terminal that is filled to its last column may begin another line.
    const width = (yield* terminal.columns) - 1
    yield* output.status(progressLine({ label, elapsedMs, ...last }, width))
  })
  yield* Effect.forkScoped(Effect.repeat(draw, Schedule.spaced("100 millis")))
  yield* Effect.addFinalizer(() => output.status(null))
  const meter: Meter = {
    set: (done, total) => {
      last = { done, total, before: last === null ? done : last.before }
    }
  }
  return meter
})
