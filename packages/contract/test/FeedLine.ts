/** A way between nodes of one process, and what can be wrong with it. */
import { FeedNet } from "@weft/contract"
import { Feed, FeedAway, type FeedSignal, type FeedTransport, sharedFeed, Timestamp } from "@weft/core"
import { Clock, Context, Effect, Layer, Queue } from "effect"

export interface LineFaults {
  /** What becomes of the texts that are sent together. */
  readonly sent?: (texts: ReadonlyArray<string>) => ReadonlyArray<string>
  readonly tellsAway?: boolean
  readonly isShared?: boolean
}

/** Lines that texts go over, by name. */
class Line {
  readonly #ends = new Set<Queue.Queue<FeedSignal>>()
  readonly #clock: Clock.Clock
  readonly #faults: LineFaults
  #isCut = false

  constructor(clock: Clock.Clock, faults: LineFaults) {
    this.#clock = clock
    this.#faults = faults
  }

  get transport(): Effect.Effect<FeedTransport, never, never> {
    return Effect.map(Queue.unbounded<FeedSignal>(), (received) => {
      this.#ends.add(received)
      return {
        textBytesMax: 7999,
        received,
        send: (texts) =>
          Effect.suspend(() => (this.#isCut ? Effect.fail(new FeedAway({ cause: "cut" })) : this.#send(texts)))
      }
    })
  }

  set isCut(isCut: boolean) {
    this.#isCut = isCut
    if (this.#faults.tellsAway === false) return
    const since = Timestamp.make(this.#clock.currentTimeMillisUnsafe())
    this.#tell(isCut ? { _tag: "Away", since } : { _tag: "Back" })
  }

  #send(texts: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.sync(() => {
      for (const text of this.#faults.sent?.(texts) ?? texts) this.#tell({ _tag: "Text", text })
    })
  }

  #tell(signal: FeedSignal): void {
    for (const end of this.#ends) Queue.offerUnsafe(end, signal)
  }
}

export const feedLine = (faults: LineFaults = {}): Layer.Layer<FeedNet> =>
  Layer.effect(
    FeedNet,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const line = new Line(clock, faults)
      const other = faults.isShared === true ? line : new Line(clock, faults)
      const nodeOn = (it: Line) =>
        Effect.map(Layer.build(Layer.fresh(sharedFeed(Effect.suspend(() => it.transport)))), (context) =>
          Context.get(context, Feed)
        )
      return {
        node: nodeOn(line),
        stranger: nodeOn(other),
        cut: Effect.sync(() => {
          line.isCut = true
        }),
        mend: Effect.sync(() => {
          line.isCut = false
        })
      }
    })
  )
