/** An in-memory network between nodes of one process, with optional faults. */
import { BusNetwork } from "@weft/contract"
import {
  ClusterBus,
  type ClusterTransport,
  sharedClusterBus,
  Timestamp,
  TransportDisconnected,
  type TransportSignal
} from "@weft/core/adapter"
import { Clock, Context, Effect, Layer, Queue } from "effect"

export interface NetworkFaults {
  /** Changes the texts of a batch. */
  readonly sent?: (texts: ReadonlyArray<string>) => ReadonlyArray<string>
  readonly reportsOutages?: boolean
  readonly isShared?: boolean
}

/** A transport between all its ends. */
class Link {
  readonly #ends = new Set<Queue.Queue<TransportSignal>>()
  readonly #clock: Clock.Clock
  readonly #faults: NetworkFaults
  #isCut = false

  constructor(clock: Clock.Clock, faults: NetworkFaults) {
    this.#clock = clock
    this.#faults = faults
  }

  get transport(): Effect.Effect<ClusterTransport, never, never> {
    return Effect.map(Queue.unbounded<TransportSignal>(), (received) => {
      this.#ends.add(received)
      return {
        frameBytesMax: 7999,
        received,
        send: (texts) =>
          Effect.suspend(() =>
            this.#isCut ? Effect.fail(new TransportDisconnected({ cause: "cut" })) : this.#send(texts)
          )
      }
    })
  }

  set isCut(isCut: boolean) {
    this.#isCut = isCut
    if (this.#faults.reportsOutages === false) return
    const since = Timestamp.make(this.#clock.currentTimeMillisUnsafe())
    this.#signal(isCut ? { _tag: "Disconnected", since } : { _tag: "Reconnected" })
  }

  #send(texts: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.sync(() => {
      for (const text of this.#faults.sent?.(texts) ?? texts) this.#signal({ _tag: "Frame", frame: text })
    })
  }

  #signal(signal: TransportSignal): void {
    for (const end of this.#ends) Queue.offerUnsafe(end, signal)
  }
}

export const memoryNetwork = (faults: NetworkFaults = {}): Layer.Layer<BusNetwork> =>
  Layer.effect(
    BusNetwork,
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const link = new Link(clock, faults)
      const other = faults.isShared === true ? link : new Link(clock, faults)
      const nodeOn = (it: Link) =>
        Effect.map(Layer.build(Layer.fresh(sharedClusterBus(Effect.suspend(() => it.transport)))), (context) =>
          Context.get(context, ClusterBus)
        )
      return {
        node: nodeOn(link),
        otherSystem: nodeOn(other),
        cut: Effect.sync(() => {
          link.isCut = true
        }),
        restore: Effect.sync(() => {
          link.isCut = false
        })
      }
    })
  )
