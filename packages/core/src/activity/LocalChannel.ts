/** Messages within a node. */
import { Context, Effect, PubSub, type Scope } from "effect"

/** Messages that a subscriber may lag before it loses the oldest. Room for them is taken at once. */
export const FeedLagMax = Context.Reference<number>("@weft/core/activity/FeedLagMax", { defaultValue: () => 10_000 })

export interface LocalChannel<Message> {
  /** Whether there are subscribers. */
  readonly isHeard: () => boolean
  readonly publish: (messages: ReadonlyArray<Message>) => Effect.Effect<void>
  readonly subscribe: Effect.Effect<PubSub.Subscription<Message>, never, Scope.Scope>
}

/** `attended` is called when the first subscriber comes and when the last one leaves. */
export const localChannel = Effect.fnUntraced(function* <Message>(
  attended: (isAttended: boolean) => void = () => undefined
): Effect.fn.Return<LocalChannel<Message>, never, Scope.Scope> {
  const hub = yield* Effect.acquireRelease(PubSub.sliding<Message>(yield* FeedLagMax), PubSub.shutdown)
  let subscribers = 0
  return {
    isHeard: () => subscribers > 0,
    // Runs publish several messages each, and most of the time nobody listens.
    publish: (messages) =>
      Effect.suspend(() =>
        subscribers === 0 || messages.length === 0 ? Effect.void : Effect.asVoid(PubSub.publishAll(hub, messages))
      ),
    subscribe: Effect.acquireRelease(
      Effect.sync(() => {
        subscribers++
        if (subscribers === 1) attended(true)
      }),
      () =>
        Effect.sync(() => {
          subscribers--
          if (subscribers === 0) attended(false)
        })
    ).pipe(Effect.andThen(PubSub.subscribe(hub)))
  }
})
