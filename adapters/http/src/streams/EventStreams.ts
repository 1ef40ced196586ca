/** Subscriptions as answers that go on: paced by the connection, kept alive, and ended in time. */
import type { Portion, Subscription } from "@weft/core"
import { Cause, Effect, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { complete, type Framing, farewell, heartbeat } from "./Frames.ts"

export interface Pace {
  /** How long a subscription lasts, in milliseconds. */
  readonly lifeMs: number
  /** Between two comments that keep the connection alive, in milliseconds. */
  readonly heartbeatMs: number
}

export interface EventStream {
  readonly subscription: Subscription
  /** What is sent before all messages. */
  readonly first: Uint8Array
  readonly framing: Framing
  /** Whether the end is announced when the time is up. */
  readonly isAnnounced: boolean
  /** Whether who subscribed still may; asked with every heartbeat. */
  readonly mayGoOn: Effect.Effect<boolean>
}

export interface EventStreams {
  readonly answer: (stream: EventStream) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
  /** Ends all of them, and those to come, so that nobody waits for them. */
  readonly end: Effect.Effect<void>
}

/** How long the last messages may take to be sent, in milliseconds. */
const farewellMs = 10_000

const headers = {
  "cache-control": "no-cache, no-transform",
  // Or a proxy would hold back what is to be seen now.
  "x-accel-buffering": "no"
}

export const makeEventStreams = ({ lifeMs, heartbeatMs }: Pace): EventStreams => {
  const open = new Set<Subscription>()
  let isEnded = false

  const live = ({ subscription, mayGoOn }: EventStream): Effect.Effect<void, never, Scope.Scope> =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => open.add(subscription)),
        () => Effect.sync(() => open.delete(subscription))
      )
      // A connection that takes nothing holds the fiber that writes to it.
      yield* Effect.withFiber((fiber) => Effect.sync(() => subscription.onCut(() => fiber.interruptUnsafe())))
      const heartbeats = Effect.sleep(heartbeatMs).pipe(
        Effect.andThen(mayGoOn),
        Effect.flatMap((may) => (may ? subscription.nudge : subscription.end("closed"))),
        Effect.forever
      )
      yield* Effect.forkScoped(heartbeats)
      yield* Effect.forkScoped(
        Effect.sleep(lifeMs).pipe(
          Effect.andThen(subscription.end("expired")),
          Effect.andThen(Effect.sleep(farewellMs)),
          Effect.andThen(subscription.end("cut"))
        )
      )
      if (isEnded) yield* subscription.end("closed")
    })

  return {
    answer: (stream) =>
      Effect.as(
        live(stream),
        HttpServerResponse.stream(Stream.fromPull(Effect.sync(() => piecesOf(stream, () => isEnded))), {
          contentType: "text/event-stream",
          headers
        })
      ),
    end: Effect.suspend(() => {
      isEnded = true
      return Effect.forEach(open, (subscription) => subscription.end("closed"), { discard: true })
    })
  }
}

type Pieces = Effect.Effect<readonly [Uint8Array], Cause.Done>

/** One piece each time it is asked, which is when the connection has taken the one before. */
const piecesOf = ({ subscription, first, framing, isAnnounced }: EventStream, isLeaving: () => boolean): Pieces => {
  const portions: Array<Portion> = []
  let from = 0
  let isBegun = false
  let isOver = false

  const taken: Pieces = Effect.flatMap(subscription.take, (news) => {
    if (typeof news === "string") {
      isOver = true
      if (news === "expired" && isAnnounced) return Effect.succeed([complete] as const)
      return news === "closed" && isLeaving() ? Effect.succeed([farewell] as const) : Cause.done()
    }
    if (news.length === 0) return Effect.succeed([heartbeat] as const)
    portions.push(...news)
    return next
  })

  const next: Pieces = Effect.suspend(() => {
    if (!isBegun) {
      isBegun = true
      return Effect.succeed([first] as const)
    }
    if (isOver) return Cause.done()
    const [portion] = portions
    if (portion === undefined) return taken
    const piece = framing.next(portion, from)
    from = piece === null || piece.end >= portion.length ? 0 : piece.end
    if (from === 0) portions.shift()
    return piece === null ? next : Effect.succeed([piece.bytes] as const)
  })
  return next
}
