/** Server-Sent Events of the MCP routes: responses with several messages, and the stream of a session. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"
import { utf8Encode } from "@weft/core/adapter"
import type { McpSessions } from "@weft/core/internal"
import { Cause, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { type EventStreams, streamHeaders } from "../streams/EventStreams.ts"
import type { Exchange } from "./McpExchange.ts"
import type { McpSession } from "./McpSession.ts"

const encode = (message: object): Uint8Array => utf8Encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`)

/** A comment, so that proxies keep the connection open. */
const heartbeat = utf8Encode(": heartbeat\n\n")

const respond = (
  next: Effect.Effect<readonly [Uint8Array], Cause.Done>,
  first: Uint8Array,
  headers: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(Stream.concat(Stream.succeed(first), Stream.fromPull(Effect.succeed(next))), {
    contentType: "text/event-stream",
    headers: { ...streamHeaders, ...headers }
  })

/** Sends the messages of an exchange, with heartbeats while its run sends nothing. */
export const streamExchange = (
  { next }: Exchange,
  first: JSONRPCMessage,
  { heartbeatMs }: EventStreams["timing"],
  headers: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse => {
  const pull = Effect.flatMap(
    // The response with the protocol's error is the last message, so the outage is only logged.
    Effect.timeoutOrElse(Effect.orDie(next), { duration: heartbeatMs, orElse: () => Effect.succeed(undefined) }),
    (message) =>
      message === null ? Cause.done() : Effect.succeed([message === undefined ? heartbeat : encode(message)] as const)
  )
  return respond(pull, encode(first), headers)
}

/** Maximum notifications that wait for a slow client. Further ones are dropped. */
const queuedMax = 256

export interface SessionStream {
  readonly session: McpSession
  /** True if the client still has permission. Evaluated at every heartbeat. */
  readonly isAuthorized: Effect.Effect<boolean>
  readonly headers: Readonly<Record<string, string>>
}

/** Opens the stream of a session, which notifies of changed resources, until its maximum duration. */
export const openSessionStream = (
  sessions: McpSessions["Service"],
  streams: EventStreams,
  { session, isAuthorized, headers }: SessionStream
) =>
  Effect.gen(function* () {
    const changed = new Set<string>()
    let wake = (): void => undefined
    let isEnded = false
    yield* sessions.listen(session, (uri) => {
      if (changed.size < queuedMax) changed.add(uri)
      wake()
    })
    yield* streams.onEnd(() => {
      isEnded = true
      wake()
    })
    const { heartbeatMs, lifetimeMs } = streams.timing
    yield* Effect.forkScoped(
      Effect.andThen(
        Effect.sleep(lifetimeMs),
        Effect.sync(() => {
          isEnded = true
          wake()
        })
      )
    )
    const ready = Effect.callback<void>((resume) => {
      wake = () => {
        wake = () => undefined
        resume(Effect.void)
      }
    })
    const next: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() => {
      const [uri] = changed
      if (uri !== undefined) {
        changed.delete(uri)
        return Effect.succeed([encode(updated(uri))] as const)
      }
      if (isEnded) return Cause.done()
      return Effect.flatMap(
        Effect.timeoutOrElse(Effect.as(ready, true), { duration: heartbeatMs, orElse: () => Effect.succeed(false) }),
        (isReady) =>
          isReady
            ? next
            : Effect.flatMap(isAuthorized, (authorized) =>
                authorized ? Effect.succeed([heartbeat] as const) : Cause.done()
              )
      )
    })
    return respond(next, heartbeat, headers)
  })

const updated = (uri: string) => ({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } })
