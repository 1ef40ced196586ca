/** Publish and subscribe within a node. */
import { Context, Effect, PubSub, type Scope } from "effect"

/** Maximum lag of a subscriber in messages, before it loses the oldest. The buffer is allocated in advance. */
export const busLagMax = Context.Reference<number>("@weft/core/platform/cluster/busLagMax", {
  defaultValue: () => 10_000
})

export interface LocalChannel<Message> {
  /** True if there are subscribers. */
  readonly hasSubscribers: () => boolean
  readonly publish: (messages: ReadonlyArray<Message>) => Effect.Effect<void>
  readonly subscribe: Effect.Effect<PubSub.Subscription<Message>, never, Scope.Scope>
}

/** Makes a channel. `onChange` is called when the first subscriber subscribes and when the last one unsubscribes. */
export const localChannel = Effect.fnUntraced(function* <Message>(
  onChange: (hasSubscribers: boolean) => void = () => undefined
): Effect.fn.Return<LocalChannel<Message>, never, Scope.Scope> {
  const hub = yield* Effect.acquireRelease(PubSub.sliding<Message>(yield* busLagMax), PubSub.shutdown)
  let subscribers = 0
  return {
    hasSubscribers: () => subscribers > 0,
    // Every run publishes several messages, and usually there are no subscribers.
    publish: (messages) =>
      Effect.suspend(() =>
        subscribers === 0 || messages.length === 0 ? Effect.void : Effect.asVoid(PubSub.publishAll(hub, messages))
      ),
    subscribe: Effect.acquireRelease(
      Effect.sync(() => {
        subscribers++
        if (subscribers === 1) onChange(true)
      }),
      () =>
        Effect.sync(() => {
          subscribers--
          if (subscribers === 0) onChange(false)
        })
    ).pipe(Effect.andThen(PubSub.subscribe(hub)))
  }
})
