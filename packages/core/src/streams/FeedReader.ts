/** Reads the feed for the hub, in portions that grow with the load. */
import { Effect, Exit, Option, PubSub, Scope } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"

/** Messages of the feed that are handed out at once: well within what a subscriber may be behind. */
export const portionMax = 250

/** After each portion the hub rests for this long per subscriber that it woke, so that portions grow with the load. */
const restMsEach = 0.05
const restMsMax = 100

/** Time for those that were woken to take what they got. */
export const restAfter = (woken: number, isBehind: boolean): Effect.Effect<void> => {
  const restMs = Math.min(woken * restMsEach, restMsMax) / (isBehind ? 4 : 1)
  // Even the quickest subscriber needs a turn to take them.
  return restMs < 1 ? Effect.yieldNow : Effect.sleep(restMs)
}

interface Attached {
  readonly scope: Scope.Closeable
  readonly activity: PubSub.Subscription<Activity>
}

/** The hub's own subscription to the feed, which it has only while somebody listens. */
export const makeFeedReader = Effect.fnUntraced(function* (handOut: (messages: ReadonlyArray<Activity>) => number) {
  const feed = yield* Feed
  let attached: Attached | null = null

  const attach = Effect.gen(function* () {
    if (attached !== null) return
    const scope = Scope.makeUnsafe()
    const activity = yield* Scope.provide(feed.activity, scope)
    attached = { scope, activity }
    yield* PubSub.takeBetween(activity, 1, portionMax).pipe(
      Effect.flatMap((messages) => {
        // More is waiting: the feed must not lose it meanwhile.
        const isBehind = messages.length === portionMax
        return restAfter(handOut(messages), isBehind)
      }),
      Effect.forever,
      Effect.forkIn(scope)
    )
  })
  const detach = Effect.suspend(() => {
    const scope = attached?.scope
    attached = null
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  /** Whether everything was handed out that has come so far. */
  const isDrained = (): boolean =>
    attached === null || Option.getOrElse(PubSub.remainingUnsafe(attached.activity), () => 0) === 0

  return { attach: Effect.uninterruptible(attach), detach, isDrained }
})
