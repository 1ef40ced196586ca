/**
 * The way out: requests that guest code makes to the world, as far as the host's policy allows.
 *
 * The seam between the runtime and an HTTP client. What goes in was made by guests and is hostile; what comes back
 * was made by strangers and is hostile too. A host that supplies no `Egress` allows no requests (`noEgress`).
 */
import { Context, Effect, Schema, type Scope, type Stream } from "effect"
import type { EnvId } from "../ids/Ids.ts"

/** The policy does not allow it. `reason` is for the guest's author; of the host it tells no more than address classes. */
export class EgressRefused extends Schema.TaggedError<EgressRefused>()("EgressRefused", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** Allowed, but it did not come to an end: network, protocol, a size or the time. `reason` as in `EgressRefused`. */
export class EgressFailed extends Schema.TaggedError<EgressFailed>()("EgressFailed", { reason: Schema.String }) {
  override get message(): string {
    return this.reason
  }
}

/** A body of bytes that are not all at hand. It is sent once: a redirect that asks for it again is a failure. */
export interface EgressUpload {
  /** In bytes, where it is known; a stream of another length is a failure. */
  readonly length: number | null
  readonly chunks: Stream.Stream<Uint8Array, EgressFailed>
}

export type HeaderList = ReadonlyArray<readonly [name: string, value: string]>

export interface EgressRequest {
  readonly method: string
  /** Absolute. A fragment is not sent. */
  readonly url: string
  /** Those that are the connection's or the client's own business are left out: see `ownHeaders`. */
  readonly headers: HeaderList
  readonly body: Uint8Array | EgressUpload | null
  /** `manual` gives the redirect itself as the response. */
  readonly redirect: "follow" | "manual" | "error"
}

export interface EgressResponse {
  /** 200 to 999. */
  readonly status: number
  readonly statusText: string
  /** Of the last request, without its fragment. */
  readonly url: string
  /** Whether a redirect was followed. */
  readonly redirected: boolean
  /** Names in lower case, in the order of the response, `set-cookie` once for each cookie. */
  readonly headers: HeaderList
  /** Decompressed; nothing where the response can have none. To be taken once. Ends with the scope. */
  readonly body: Stream.Stream<Uint8Array, EgressFailed>
}

export class Egress extends Context.Service<
  Egress,
  {
    /**
     * Sends a request on behalf of an environment and gives the head of its response. The connection, and with it
     * the body, lives until the scope ends. Interruption ends it at once. Of the time that a policy grants, the
     * body takes its part too.
     */
    readonly send: (
      envId: EnvId,
      request: EgressRequest
    ) => Effect.Effect<EgressResponse, EgressRefused | EgressFailed, Scope.Scope>
  }
>()("@weft/core/egress/Egress") {}

export const noEgress: Egress["Service"] = Egress.of({
  send: () => Effect.fail(new EgressRefused({ reason: "this host allows no outbound requests" }))
})

/**
 * Request headers that guests do not set: they frame the message, belong to one connection, or say what the client
 * itself can do. In lower case; everything that begins with `proxy-` is one of them.
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
