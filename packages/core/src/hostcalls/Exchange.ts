/**
 * One outbound request of a run, from its first host call to the end of its response: what the host keeps of it
 * between the calls. Bytes wait here only as many as one call takes; behind them the connection stands still.
 */
import { type Cause, Deferred, Effect, Exit, Queue, Scope, Stream } from "effect"
import {
  type Egress,
  EgressFailed,
  type EgressRefused,
  type EgressRequest,
  type EgressResponse
} from "../egress/Egress.ts"
import type { EnvId } from "../ids/Ids.ts"
import { Inflow, type Taken } from "./Inflow.ts"

/** The head of the response: all of it but its body. */
export type ResponseHead = Omit<EgressResponse, "body">

export class Exchange {
  readonly #scope = Scope.makeUnsafe()
  readonly #cancelled = Deferred.makeUnsafe<never, EgressFailed>()
  readonly #onEnd: () => void
  #upload: Queue.Queue<Uint8Array, EgressFailed | Cause.Done> | undefined
  #response: Inflow<EgressFailed> | undefined

  /** `onEnd` is called once, when nothing more can be asked of it. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** `upload`: the body comes by `write`, of this many bytes, or of a number that is not known yet. */
  send(
    egress: Egress["Service"],
    envId: EnvId,
    request: Omit<EgressRequest, "body">,
    body: Uint8Array | { readonly length: number | null } | null
  ): Effect.Effect<ResponseHead, EgressRefused | EgressFailed> {
    return Effect.flatMap(this.#bodyOf(body), (sent) =>
      Effect.flatMap(egress.send(envId, { ...request, body: sent }), (response) => this.#open(response)).pipe(
        Effect.provideService(Scope.Scope, this.#scope),
        Effect.raceFirst(Deferred.await(this.#cancelled)),
        Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : this.end))
      )
    )
  }

  /** Waits until the bytes are on their way. False when nobody wants them any more. */
  write(bytes: Uint8Array, done: boolean): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const upload = this.#upload
      if (upload === undefined) return Effect.succeed(false)
      const offered = bytes.length === 0 ? Effect.succeed(true) : Queue.offer(upload, bytes)
      return done ? Effect.andThen(offered, Queue.end(upload)) : offered
    })
  }

  /** As `Inflow.read`, of the response. */
  read(bytesMax: number): Effect.Effect<Taken, EgressFailed> {
    return Effect.suspend(() => {
      const response = this.#response
      if (response === undefined) return Effect.fail(new EgressFailed({ reason: "there is no response to be read" }))
      return Effect.onError(response.read(bytesMax), () => this.end)
    }).pipe(Effect.tap(({ done }) => (done ? this.end : Effect.void)))
  }

  /** Decodes what was read as text. */
  textOf(bytes: Uint8Array, isLast: boolean): string {
    return this.#response?.textOf(bytes, isLast) ?? ""
  }

  /** Gives up whatever is going on: the connection is closed, unless it has done its work. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    Deferred.doneUnsafe(this.#cancelled, Exit.fail(new EgressFailed({ reason: "the request was ended" })))
    return Scope.close(this.#scope, Exit.void)
  })

  #bodyOf(body: Uint8Array | { readonly length: number | null } | null): Effect.Effect<EgressRequest["body"]> {
    if (body === null || body instanceof Uint8Array) return Effect.succeed(body)
    return Effect.gen({ self: this }, function* () {
      const upload = yield* Queue.bounded<Uint8Array, EgressFailed | Cause.Done>(1)
      yield* Scope.addFinalizer(this.#scope, Queue.shutdown(upload))
      this.#upload = upload
      return { length: body.length, chunks: Stream.fromQueue(upload) }
    })
  }

  #open({ body, ...head }: EgressResponse): Effect.Effect<ResponseHead, never, Scope.Scope> {
    return Effect.map(Inflow.open(body), (response) => {
      this.#response = response
      return head
    })
  }
}
