/**
 * Outbound requests of guest code, as far as the host's policy allows them.
 *
 * The seam between the runtime and an HTTP client. Requests come from guests and responses from unknown servers; both
 * are untrusted. A host that supplies no `Egress` allows no requests (`noEgress`).
 */
import { Context, Effect, Schema, type Scope, type Stream } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import type { EgressSocket, EgressWebSocket, SocketRequest, WebSocketRequest } from "./EgressSocket.ts"

/** The policy refused the request. `reason` is for the guest's author and reveals only address classes of the host. */
export class EgressRefused extends Schema.TaggedError<EgressRefused>()("EgressRefused", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** The policy allowed the request, but it failed: network, protocol, a size limit or a timeout. `reason` as in `EgressRefused`. */
export class EgressFailed extends Schema.TaggedError<EgressFailed>()("EgressFailed", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** A streamed body. It is sent once: a redirect that needs it again is a failure. */
export interface EgressUpload {
  /** Length in bytes, or null if unknown. A stream of another length is a failure. */
  readonly length: number | null
  readonly chunks: Stream.Stream<Uint8Array, EgressFailed>
}

export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>

export interface EgressRequest {
  readonly method: string
  /** Absolute. A fragment is not sent. */
  readonly url: string
  /** Headers that belong to the connection or the client are removed: see `ownHeaders`. */
  readonly headers: HeaderList
  readonly body: Uint8Array | EgressUpload | null
  /** `manual` returns the redirect itself as the response. */
  readonly redirect: "follow" | "manual" | "error"
}

export interface EgressResponse {
  /** 200 to 999. */
  readonly status: number
  readonly statusText: string
  /** Of the last request, without its fragment. */
  readonly url: string
  /** True if a redirect was followed. */
  readonly redirected: boolean
  /** Names in lower case, in the order of the response, `set-cookie` once for each cookie. */
  readonly headers: HeaderList
  /** Decompressed; empty if the response cannot have a body. Can be read once, until the scope closes. */
  readonly body: Stream.Stream<Uint8Array, EgressFailed>
}

export class Egress extends Context.Service<
  Egress,
  {
    /**
     * Sends a request on behalf of an environment and returns the head of its response. The connection, and with it
     * the body, lives until the scope closes. Interruption closes it at once. Reading the body counts towards the
     * policy's time limit.
     */
    readonly send: (
      envId: EnvId,
      request: EgressRequest
    ) => Effect.Effect<EgressResponse, EgressRefused | EgressFailed, Scope.Scope>
    /**
     * Resolves a name to its addresses, at most 32, in the order of the name servers; none if it has no address. Fails
     * if the policy refuses the name or one of its addresses.
     */
    readonly lookup: (envId: EnvId, host: string) => Effect.Effect<ReadonlyArray<string>, EgressRefused | EgressFailed>
    /** Connects a TCP socket to a checked address. It closes with the scope. */
    readonly openSocket: (
      envId: EnvId,
      request: SocketRequest
    ) => Effect.Effect<EgressSocket, EgressRefused | EgressFailed, Scope.Scope>
    /** Connects a WebSocket to a checked address. It closes with the scope. */
    readonly openWebSocket: (
      envId: EnvId,
      request: WebSocketRequest
    ) => Effect.Effect<EgressWebSocket, EgressRefused | EgressFailed, Scope.Scope>
  }
>()("@weft/core/platform/egress/Egress") {}

export const noEgress: Egress["Service"] = Egress.of({
  send: () => Effect.fail(noRequests),
  lookup: () => Effect.fail(noRequests),
  openSocket: () => Effect.fail(noSockets),
  openWebSocket: () => Effect.fail(noSockets)
})

const noRequests = new EgressRefused({ reason: "this host allows no outbound requests" })
const noSockets = new EgressRefused({ reason: "this host allows no outbound connections" })

/**
 * Request headers that guests cannot set: they frame the message, belong to one connection, or describe the client.
 * In lower case. All names that begin with `proxy-` are excluded as well.
 */
export const ownHeaders: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])
