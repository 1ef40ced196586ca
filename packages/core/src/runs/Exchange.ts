/**
 * One outbound request of a run, from its first host call to the end of its response: what the host keeps of it
 * between the calls. Bytes wait here only as many as one call takes; behind them the connection stands still.
 */
import { type Cause, Deferred, Effect, Exit, Pull, Queue, Scope, Stream } from "effect"
import {
  type Egress,
  EgressFailed,
  type EgressRefused,
  type EgressRequest,
  type EgressResponse
} from "../egress/Egress.ts"
import type { EnvId } from "../ids/Ids.ts"
import { utf8Pieces } from "../ids/Utf8.ts"

/** Chunks of a response that are taken in ahead of their call; a connection gives at most 64 KiB in each. */
const chunksAhead = 8

export interface Taken {
  readonly bytes: Uint8Array
  /** Whether these are the last ones. */
  readonly done: boolean
}

/** The head of the response: all of it but its body. */
export type ResponseHead = Omit<EgressResponse, "body">

export class Exchange {
  readonly #scope = Scope.makeUnsafe()
  readonly #cancelled = Deferred.makeUnsafe<never, EgressFailed>()
  readonly #onEnd: () => void
  #upload: Queue.Queue<Uint8Array, EgressFailed | Cause.Done> | undefined
  #chunks: Queue.Dequeue<Uint8Array, EgressFailed | Cause.Done> | undefined
  /** Decodes what is asked for as text. */
  readonly textOf = utf8Pieces()
  /** What was taken from the queue and was too much for the call. */
  #rest: Uint8Array | undefined

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

  /** What has come in, at least a byte and at most `bytesMax`; waits for it. Nothing when it is over. */
  read(bytesMax: number): Effect.Effect<Taken, EgressFailed> {
    return Effect.suspend(() => {
      const rest = this.#rest
      if (rest !== undefined) return Effect.succeed(this.#cut(rest, bytesMax))
      const chunks = this.#chunks
      if (chunks === undefined) return Effect.fail(new EgressFailed({ reason: "there is no response to be read" }))
      return Effect.map(Queue.takeBetween(chunks, 1, chunksAhead), (taken) => this.#cut(joined(taken), bytesMax)).pipe(
        Effect.catchTag("Done", () => Effect.succeed({ bytes: new Uint8Array(), done: true })),
        Effect.onError(() => this.end)
      )
    }).pipe(Effect.tap(({ done }) => (done ? this.end : Effect.void)))
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
    return Effect.map(Stream.toQueue(body, { capacity: chunksAhead }), (chunks) => {
      this.#chunks = chunks
      return head
    })
  }

  #cut(bytes: Uint8Array, bytesMax: number): Taken {
    this.#rest = bytes.length > bytesMax ? bytes.subarray(bytesMax) : undefined
    const done = this.#rest === undefined && this.#chunks !== undefined && hasEnded(this.#chunks)
    return { bytes: bytes.subarray(0, bytesMax), done }
  }
}

/** Whether nothing will follow, and not because of a failure. */
const hasEnded = ({ state }: Queue.Dequeue<Uint8Array, EgressFailed | Cause.Done>): boolean =>
  state._tag === "Done" && Pull.isDoneCause(state.exit.cause)

const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = chunks
  if (only !== undefined && chunks.length === 1) return only
  const all = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
