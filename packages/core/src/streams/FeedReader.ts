/** Reads the feed for the hub, in portions that grow with the load. */
import { Effect, Exit, Option, PubSub, Scope } from "effect"
import type { Activity } from "../activity/Activity.ts"
import { Feed } from "../activity/Feed.ts"
import type { Turns } from "./Turns.ts"

/** Messages of the feed that are handed out at once: well within what a subscriber may be behind. */
export const portionMax = 250

/** After each portion the hub rests for so many milliseconds for each that was told, so that portions grow with the load. */
const restMsEach = 0.005
const restMsMax = 100

const restAfter = (told: number): Effect.Effect<void> => {
  const restMs = Math.min(told * restMsEach, restMsMax)
  return restMs < 1 ? Effect.yieldNow : Effect.sleep(restMs)
}

interface Attached {
  readonly scope: Scope.Closeable
  readonly activity: PubSub.Subscription<Activity>
}

/** The hub's own subscription to the feed, which it has only while somebody listens. */
export const makeFeedReader = Effect.fnUntraced(function* (
  turns: Turns,
  handOut: (messages: ReadonlyArray<Activity>) => number
) {
  const feed = yield* Feed
  let attached: Attached | null = null

  const attach = Effect.gen(function* () {
    if (attached !== null) return
    const scope = Scope.makeUnsafe()
    const activity = yield* Scope.provide(feed.activity, scope)
    attached = { scope, activity }
    let sinceRound = 0
    yield* PubSub.takeBetween(activity, 1, portionMax).pipe(
      Effect.flatMap((messages) => {
        const told = handOut(messages)
        sinceRound += messages.length
        if (sinceRound < portionMax) return restAfter(told)
        sinceRound = 0
        // Else those whose turn comes late would be too far behind.
        return turns.round
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
