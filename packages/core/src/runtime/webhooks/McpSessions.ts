/**
 * Sessions of MCP clients: their log levels, their subscriptions to resources, and the requests that they must answer.
 *
 * Every node keeps the state of all sessions, in memory and bounded, because any node may receive a message of a client.
 * Nodes exchange changes over the bus. If a message is lost, a client misses notifications until it subscribes again.
 */
import { Context, Effect, Layer, type Scope } from "effect"
import { BadRequest, RateLimited } from "../../foundation/Errors.ts"
import type { EnvId } from "../../foundation/Ids.ts"
import { type JsonText, toJsonText } from "../../foundation/JsonText.ts"
import { ClusterBus } from "../../platform/cluster/ClusterBus.ts"
import type { ControlMessage } from "../../platform/cluster/ControlMessage.ts"
import { subscribe } from "../../platform/cluster/subscribe.ts"
import { type McpLogLevel, mcpLogLevels } from "../svc/ModelClient.ts"
import { SessionStates, type StateChange, subscriptionsOfSessionMax } from "./SessionStates.ts"

/** A session of a client. Its key contains the credential, so that no other caller can use it. */
export interface SessionRef {
  readonly env_id: EnvId
  readonly key: string
}

/** Maximum open streams of an environment on a node. */
const streamsMax = 1000
/** Maximum length of an answer that is sent to other nodes, in characters. */
const sentAnswerMax = 64 * 1024
const uriLengthMax = 1024

export class McpSessions extends Context.Service<
  McpSessions,
  {
    /** Returns the lowest level of log messages that the client wants; `debug` by default. */
    readonly level: (session: SessionRef) => McpLogLevel
    readonly setLevel: (session: SessionRef, level: McpLogLevel) => Effect.Effect<void>
    /** Subscribes the session to a resource. Fails if it has too many subscriptions. */
    readonly subscribe: (session: SessionRef, uri: string) => Effect.Effect<void, BadRequest>
    readonly unsubscribe: (session: SessionRef, uri: string) => Effect.Effect<void>
    /** Forgets the session. */
    readonly end: (session: SessionRef) => Effect.Effect<void>
    /** Calls `onUpdated` with the URI of every changed resource of the session, until the scope closes. */
    readonly listen: (
      session: SessionRef,
      onUpdated: (uri: string) => void
    ) => Effect.Effect<void, RateLimited, Scope.Scope>
    /** Calls `receive` with the answer of the session's client to a request, which is untrusted. Returns how to stop. */
    readonly expectAnswer: (session: SessionRef, requestId: string, receive: (answer: unknown) => void) => () => void
    /** Gives the client's answer to the node whose run waits for it. Fails if the answer is too long for another node. */
    readonly answer: (session: SessionRef, requestId: string, answer: JsonText) => Effect.Effect<void, BadRequest>
    /** Calls `onCancelled` when the client cancels its request `requestId`, a JSON text. Returns how to stop. */
    readonly onCancelled: (session: SessionRef, requestId: string, onCancelled: () => void) => () => void
    /** Cancels a request of the client, whichever node handles it. */
    readonly cancel: (session: SessionRef, requestId: string) => Effect.Effect<void>
  }
>()("@weft/core/runtime/webhooks/McpSessions") {
  static readonly layer = Layer.effect(
    McpSessions,
    Effect.gen(function* () {
      const bus = yield* ClusterBus
      const states = new SessionStates()
      const listeners = new Map<EnvId, Set<Listener>>()
      const pending = new Map<string, (answer: unknown) => void>()
      const calls = new Map<string, () => void>()

      const receive = (message: ControlMessage): void => {
        if (message.type === "mcp:session")
          states.apply({ env_id: message.env_id, key: message.session }, message.change)
        else if (message.type === "mcp:updated") {
          for (const { session, onUpdated } of listeners.get(message.env_id) ?? []) {
            if (states.isSubscribed(session, message.uri)) onUpdated(message.uri)
          }
        } else if (message.type === "mcp:answered") {
          pending.get(toKey(message.session, message.request_id))?.(JSON.parse(message.answer))
        } else if (message.type === "mcp:cancelled") calls.get(toKey(message.session, message.request_id))?.()
      }
      yield* subscribe((message) => Effect.sync(() => receive(message)), Effect.void)

      const change = (session: SessionRef, made: StateChange) =>
        Effect.andThen(
          Effect.sync(() => states.apply(session, made)),
          bus.sendControl([{ type: "mcp:session", env_id: session.env_id, session: session.key, change: made }])
        )

      /** Adds an entry until the returned function is called, unless another one replaced it. */
      const register = <A>(entries: Map<string, A>, key: string, value: A): (() => void) => {
        entries.set(key, value)
        return () => {
          if (entries.get(key) === value) entries.delete(key)
        }
      }

      return McpSessions.of({
        level: (session) => toLevel(states.level(session)),
        setLevel: (session, level) => change(session, { level }),

        subscribe: (session, uri) =>
          uri.length > uriLengthMax
            ? Effect.fail(new BadRequest({ reason: `uri must have at most ${uriLengthMax} characters` }))
            : states.canSubscribe(session, uri)
              ? change(session, { uri, isSubscribed: true })
              : Effect.fail(tooManySubscriptions),
        unsubscribe: (session, uri) =>
          states.isSubscribed(session, uri) ? change(session, { uri, isSubscribed: false }) : Effect.void,
        end: (session) => change(session, { hasEnded: true }),

        listen: (session, onUpdated) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.suspend(() => {
                const all = listeners.get(session.env_id) ?? new Set<Listener>()
                if (all.size >= streamsMax) return Effect.fail(tooManyStreams)
                listeners.set(session.env_id, all)
                const listener = { session, onUpdated }
                all.add(listener)
                return Effect.succeed(listener)
              }),
              (listener) =>
                Effect.sync(() => {
                  const all = listeners.get(session.env_id)
                  if (all?.delete(listener) === true && all.size === 0) listeners.delete(session.env_id)
                })
            )
          ),

        expectAnswer: ({ key }, requestId, receiveAnswer) => register(pending, toKey(key, requestId), receiveAnswer),
        answer: ({ key }, requestId, answer) =>
          Effect.suspend(() => {
            const local = pending.get(toKey(key, requestId))
            if (local !== undefined) return Effect.sync(() => local(JSON.parse(answer)))
            if (answer.length > sentAnswerMax) return Effect.fail(answerTooLong)
            return bus.sendControl([{ type: "mcp:answered", session: key, request_id: requestId, answer }])
          }),

        onCancelled: ({ key }, requestId, onCancelled) => register(calls, toKey(key, requestId), onCancelled),
        cancel: ({ key }, requestId) =>
          Effect.suspend(() => {
            const local = calls.get(toKey(key, requestId))
            return local === undefined
              ? bus.sendControl([{ type: "mcp:cancelled", session: key, request_id: requestId }])
              : Effect.sync(local)
          })
      })
    })
  )
}

interface Listener {
  readonly session: SessionRef
  readonly onUpdated: (uri: string) => void
}

const toKey = (session: string, requestId: string): string => toJsonText([session, requestId])

const toLevel = (level: string | null): McpLogLevel => mcpLogLevels.find((known) => known === level) ?? "debug"

const tooManySubscriptions = new BadRequest({
  reason: `A session may subscribe to at most ${subscriptionsOfSessionMax} resources`
})
const answerTooLong = new BadRequest({
  reason: `The run waits on another node: its answer may have at most ${sentAnswerMax} characters`
})
const tooManyStreams = new RateLimited({
  retryAfterSeconds: 30,
  reason: `The environment has ${streamsMax} open streams of MCP clients`
})
