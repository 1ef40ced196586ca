/** Subscriptions as answers that go on: paced by the connection, kept alive, and ended in time. */
import { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { Subscription } from "@weft/core"
import { Effect, type Scope, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Framing } from "./Frames.ts"
import { Pieces } from "./Pieces.ts"
import { poured, pulled } from "./Pouring.ts"

export interface Pace {
  /** How long a subscription lasts, in milliseconds. */
  readonly lifeMs: number
  /** Between two comments that keep the connection alive, in milliseconds. */
  readonly heartbeatMs: number
}

export interface EventStream {
  readonly request: HttpServerRequest.HttpServerRequest
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
        HttpServerResponse.stream(
          bytesOf(stream, () => isEnded),
          { contentType: "text/event-stream", headers }
        )
      ),
    end: Effect.suspend(() => {
      isEnded = true
      return Effect.forEach(open, (subscription) => subscription.end("closed"), { discard: true })
    })
  }
}

/** The first piece by the stream, which sends the headers with it; where it can be, all others past it. */
const bytesOf = (stream: EventStream, isLeaving: () => boolean): Stream.Stream<Uint8Array> => {
  const { subscription, first, framing, isAnnounced, request } = stream
  const response = nodeResponse(request)
  const rest = Stream.suspend(() => {
    const pieces = new Pieces({ framing, isAnnounced, isLeaving })
    return response === null
      ? Stream.fromPull(Effect.succeed(pulled(subscription, pieces)))
      : Stream.fromEffectDrain(poured(subscription, pieces, response))
  })
  return Stream.concat(Stream.succeed(first), rest)
}

const nodeResponse = (request: HttpServerRequest.HttpServerRequest): ServerResponse | null => {
  if (!(request.source instanceof IncomingMessage)) return null
  const response = NodeHttpServerRequest.toServerResponse(request)
  return response instanceof ServerResponse ? response : null
}
