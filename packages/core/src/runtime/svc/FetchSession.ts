/**
 * State of one outbound request of a run between host calls, until the end of its response.
 *
 * It buffers at most the bytes of one call; then back-pressure stops the connection.
 */
import { type Cause, Deferred, Effect, Exit, Queue, Scope, Stream } from "effect"
import type { EnvId } from "../../foundation/Ids.ts"
import {
  type Egress,
  EgressFailed,
  type EgressRefused,
  type EgressRequest,
  type EgressResponse
} from "../../platform/egress/Egress.ts"
import { ReadAhead, type ReadBytes } from "./ReadAhead.ts"

const ended = Exit.fail(new EgressFailed({ reason: "the request was ended" }))

/** Response without its body. */
export type ResponseHead = Omit<EgressResponse, "body">

export class FetchSession {
  readonly #scope = Scope.makeUnsafe()
  readonly #cancelled = Deferred.makeUnsafe<never, EgressFailed>()
  readonly #onEnd: () => void
  #upload: Queue.Queue<Uint8Array, EgressFailed | Cause.Done> | undefined
  #response: ReadAhead<EgressFailed> | undefined

  /** @param onEnd called once, when the session has ended */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** Sends the request. A body of a length (null if unknown) is sent by `write`. */
  send(
    egress: Egress["Service"],
    envId: EnvId,
    request: Omit<EgressRequest, "body">,
    body: Uint8Array | { readonly length: number | null } | null
  ): Effect.Effect<ResponseHead, EgressRefused | EgressFailed> {
    return Effect.flatMap(this.#prepareBody(body), (sent) =>
      Effect.flatMap(egress.send(envId, { ...request, body: sent }), (response) => this.#open(response)).pipe(
        Effect.provideService(Scope.Scope, this.#scope),
        Effect.raceFirst(Deferred.await(this.#cancelled)),
        Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : this.end))
      )
    )
  }

  /** Waits until the bytes are sent. Returns false if the peer accepts no more bytes. */
  write(bytes: Uint8Array, done: boolean): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const upload = this.#upload
      if (upload === undefined) return Effect.succeed(false)
      const offered = bytes.length === 0 ? Effect.succeed(true) : Queue.offer(upload, bytes)
      return done ? Effect.andThen(offered, Queue.end(upload)) : offered
    })
  }

  /** Reads the body of the response, as `ReadAhead.read`. */
  read(bytesMax: number): Effect.Effect<ReadBytes, EgressFailed> {
    return Effect.suspend(() => {
      const response = this.#response
      if (response === undefined) return Effect.fail(new EgressFailed({ reason: "there is no response to be read" }))
      return Effect.onError(response.read(bytesMax), () => this.end)
    }).pipe(Effect.tap(({ done }) => (done ? this.end : Effect.void)))
  }

  /** Decodes bytes that were read as text. */
  decodeText(bytes: Uint8Array, isLast: boolean): string {
    return this.#response?.decodeText(bytes, isLast) ?? ""
  }

  /** Ends the session and closes the connection, unless the response is complete. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    Deferred.doneUnsafe(this.#cancelled, ended)
    return Scope.close(this.#scope, Exit.void)
  })

  #prepareBody(body: Uint8Array | { readonly length: number | null } | null): Effect.Effect<EgressRequest["body"]> {
    if (body === null || body instanceof Uint8Array) return Effect.succeed(body)
    return Effect.gen({ self: this }, function* () {
      const upload = yield* Queue.bounded<Uint8Array, EgressFailed | Cause.Done>(1)
      yield* Scope.addFinalizer(this.#scope, Queue.shutdown(upload))
      this.#upload = upload
      return { length: body.length, chunks: Stream.fromQueue(upload) }
    })
  }

  #open({ body, ...head }: EgressResponse): Effect.Effect<ResponseHead, never, Scope.Scope> {
    return Effect.map(ReadAhead.open(body), (response) => {
      this.#response = response
      return head
    })
  }
}
