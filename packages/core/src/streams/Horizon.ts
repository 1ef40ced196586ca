/** How far a node has told its subscribers what has happened, and how it makes up for what the feed lost. */
import { Clock, Effect, type Latch, PubSub, Queue, Schedule } from "effect"
import { Feed } from "../activity/Feed.ts"
import type { StoreUnavailable } from "../errors/Errors.ts"
import { logOutage } from "../errors/Lasting.ts"
import type { EnvId } from "../ids/Ids.ts"
import { Untold } from "../journal/Untold.ts"
import { portionMax } from "./FeedReader.ts"
import type { Missed } from "./Missed.ts"
import type { Opened, OpenedChannels } from "./OpenedChannels.ts"
import type { Turns } from "./Turns.ts"

/** How often it is noted that the process goes on, and how long it may be silent before it counts as stopped. */
const tickMs = 1_000
const stoppedMs = 5_000

/**
 * The instant before which everything that was stored has been handed out. It stands still while messages of other nodes
 * do not arrive, until what was lost of them is told from the store. `hasChannels` is open while there are any.
 */
export const makeHorizon = Effect.fnUntraced(function* (
  opened: OpenedChannels,
  missed: Missed,
  hasChannels: Latch.Latch,
  turns: Turns
) {
  const feed = yield* Feed
  const untold = yield* Untold
  const clock = yield* Clock.Clock
  const gaps = yield* feed.gaps
  const news = yield* feed.news
  /** Since when something is to be told from the store. */
  const sinces = yield* Queue.unbounded<number>()
  let time = clock.currentTimeMillisUnsafe()
  let isCatchingUp = false
  let tickedAt = time
  let heldUntil = 0

  const advance = (isDrained: boolean): number => {
    const now = clock.currentTimeMillisUnsafe()
    // The process was stopped for a while: what came meanwhile may still be on its way through the machine.
    if (now - tickedAt > stoppedMs) heldUntil = now + stoppedMs
    if (isDrained && !isCatchingUp && now >= heldUntil && feed.awaySince() === null) {
      // What is written late may be told after all that has happened since, and perhaps by another node.
      time = Math.max(time, Math.min(now, untold.oldest() ?? now))
    }
    return time
  }

  const tick = () => {
    tickedAt = clock.currentTimeMillisUnsafe()
  }
  yield* hasChannels.await.pipe(
    Effect.andThen(Effect.sync(tick)),
    Effect.andThen(Effect.sleep(tickMs)),
    Effect.forever,
    Effect.forkScoped
  )

  const catchUp = Effect.fnUntraced(function* (envId: EnvId, { channel }: Opened, since: number) {
    const missing = yield* missed.ofChannel(envId, channel, since, clock.currentTimeMillisUnsafe())
    for (let at = 0; at < missing.length; at += portionMax) {
      for (const activity of missing.slice(at, at + portionMax)) channel.retell(activity, time)
      channel.flush()
      yield* turns.round
    }
  })

  const patiently = (effect: Effect.Effect<void, StoreUnavailable>) =>
    effect.pipe(
      Effect.tapError(logOutage),
      Effect.retry(Schedule.spaced("1 second")),
      Effect.catchCause((cause) => Effect.logError("What was missed cannot be told", cause))
    )

  const note = (some: ReadonlyArray<number>) =>
    Effect.sync(() => {
      if (some.length === 0) return
      isCatchingUp = true
      Queue.offerAllUnsafe(sinces, some)
    })
  yield* PubSub.takeAll(gaps).pipe(
    Effect.flatMap((some) => note(some.map((gap) => gap.since))),
    Effect.forever,
    Effect.forkScoped
  )
  yield* PubSub.takeAll(news).pipe(
    Effect.flatMap((some) => {
      const untold = some.flatMap((each) => (each.type === "activity:missing" ? [each.since] : []))
      for (const since of untold) missed.note(since, clock.currentTimeMillisUnsafe())
      return note(untold)
    }),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Queue.takeAll(sinces).pipe(
    Effect.tap((some) =>
      Effect.suspend(() => {
        const since = Math.min(...some)
        return Effect.forEach([...opened], ([envId, entry]) => patiently(catchUp(envId, entry, since)), {
          concurrency: "unbounded",
          discard: true
        })
      })
    ),
    Effect.tap(() =>
      Effect.sync(() => {
        isCatchingUp = Queue.sizeUnsafe(sinces) > 0
      })
    ),
    Effect.forever,
    Effect.forkScoped
  )
  return { advance, tick }
})
