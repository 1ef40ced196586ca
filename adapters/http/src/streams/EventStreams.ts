/** Responses for subscriptions: with back-pressure, heartbeats and a maximum duration. */
import { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { Subscription } from "@weft/core/internal"
import { Effect, type Scope, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { chooseCoding } from "../encoding/AcceptEncoding.ts"
import { GzipFrames } from "./GzipFrames.ts"
import type { SseEncoder } from "./SseEncoder.ts"
import { SseQueue } from "./SseQueue.ts"
import { pullChunks, writeChunks } from "./SseWriter.ts"

export interface StreamTiming {
  /** Maximum duration of a subscription, in milliseconds. */
  readonly lifetimeMs: number
  /** Interval of the heartbeat comments, in milliseconds. */
  readonly heartbeatMs: number
}

export interface EventStream {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly subscription: Subscription
  /** The bytes before the first message. */
  readonly first: Uint8Array
  readonly encoder: SseEncoder
  /** True if the stream ends with `stream:complete` when it reaches its maximum duration. */
  readonly sendsComplete: boolean
  /** True if the subscriber still has permission. Evaluated at every heartbeat. */
  readonly isAuthorized: Effect.Effect<boolean>
}

export interface EventStreams {
  readonly respond: (stream: EventStream) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>
  /** Runs `end` when all streams must end, until the scope closes; at once if they must end already. */
  readonly onEnd: (end: () => void) => Effect.Effect<void, never, Scope.Scope>
  readonly timing: StreamTiming
  /** Ends all current and future streams, so that a shutdown does not wait for them. */
  readonly end: Effect.Effect<void>
}

/** Maximum time to send the last messages after the end of a subscription, in milliseconds. */
const flushMs = 10_000

/** Headers of event streams. */
export const streamHeaders = {
  "cache-control": "no-cache, no-transform",
  // Turns off response buffering in nginx and similar proxies.
  "x-accel-buffering": "no"
}

export const makeEventStreams = (timing: StreamTiming): EventStreams => {
  const { lifetimeMs, heartbeatMs } = timing
  const open = new Set<Subscription>()
  const others = new Set<() => void>()
  let isEnded = false

  const keepAlive = ({ subscription, isAuthorized }: EventStream): Effect.Effect<void, never, Scope.Scope> =>
    Effect.gen(function* () {
      yield* Effect.acquireRelease(
        Effect.sync(() => open.add(subscription)),
        () => Effect.sync(() => open.delete(subscription))
      )
      // A stalled connection blocks the fiber that writes to it, so `cut` interrupts the fiber.
      yield* Effect.withFiber((fiber) => Effect.sync(() => subscription.onCut(() => fiber.interruptUnsafe())))
      const heartbeats = Effect.sleep(heartbeatMs).pipe(
        Effect.andThen(isAuthorized),
        Effect.flatMap((authorized) => (authorized ? subscription.wake : subscription.end("closed"))),
        Effect.forever
      )
      yield* Effect.forkScoped(heartbeats)
      yield* Effect.forkScoped(
        Effect.sleep(lifetimeMs).pipe(
          Effect.andThen(subscription.end("expired")),
          Effect.andThen(Effect.sleep(flushMs)),
          Effect.andThen(subscription.end("cut"))
        )
      )
      if (isEnded) yield* subscription.end("closed")
    })

  return {
    respond: (stream) => Effect.map(keepAlive(stream), () => toResponse(stream, () => isEnded)),
    timing,
    onEnd: (end) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => {
            others.add(end)
            if (isEnded) end()
          }),
          () => Effect.sync(() => others.delete(end))
        )
      ),
    end: Effect.suspend(() => {
      isEnded = true
      for (const end of others) end()
      return Effect.forEach(open, (subscription) => subscription.end("closed"), { discard: true })
    })
  }
}

/** Compresses for clients that ask for it. `Vary` is not needed: no cache stores the response. */
const toResponse = (stream: EventStream, isShuttingDown: () => boolean): HttpServerResponse.HttpServerResponse => {
  const isCompressed = chooseCoding(stream.request.headers["accept-encoding"], ["gzip"]) !== null
  return HttpServerResponse.stream(encodeMessages(stream, isShuttingDown, isCompressed ? new GzipFrames() : null), {
    contentType: "text/event-stream",
    headers: isCompressed ? { ...streamHeaders, "content-encoding": "gzip" } : streamHeaders
  })
}

/** Sends the first chunk through the stream, with the headers. On Node, writes the others directly to the response. */
const encodeMessages = (
  stream: EventStream,
  isShuttingDown: () => boolean,
  frames: GzipFrames | null
): Stream.Stream<Uint8Array> => {
  const { subscription, first, encoder, sendsComplete, request } = stream
  const response = nodeResponse(request)
  const rest = Stream.suspend(() => {
    const encodeChunk = frames === null ? null : (chunk: Uint8Array) => frames.add(chunk)
    const queue = new SseQueue({ encoder, sendsComplete, isShuttingDown, encodeChunk })
    return response === null
      ? Stream.fromPull(Effect.succeed(pullChunks(subscription, queue)))
      : Stream.fromEffectDrain(writeChunks(subscription, queue, response))
  })
  const messages = Stream.concat(Stream.succeed(frames === null ? first : frames.begin(first)), rest)
  return frames === null
    ? messages
    : Stream.concat(
        messages,
        Stream.suspend(() => Stream.succeed(frames.end()))
      )
}

const nodeResponse = (request: HttpServerRequest.HttpServerRequest): ServerResponse | null => {
  if (!(request.source instanceof IncomingMessage)) return null
  const response = NodeHttpServerRequest.toServerResponse(request)
  return response instanceof ServerResponse ? response : null
}
