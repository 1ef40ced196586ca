/** Bytes on their way to a guest: taken in ahead of its calls only as many as one call takes. */
import { type Cause, Effect, Pull, Queue, type Scope, Stream } from "effect"
import { utf8Pieces } from "../ids/Utf8.ts"

/** Chunks that are taken in ahead of their call; a connection, or a file, gives at most 64 KiB in each. */
const chunksAhead = 8

export interface Taken {
  readonly bytes: Uint8Array
  /** Whether these are the last ones. */
  readonly done: boolean
}

export class Inflow<E> {
  readonly #chunks: Queue.Dequeue<Uint8Array, E | Cause.Done>
  /** Decodes what is asked for as text. */
  readonly textOf = utf8Pieces()
  /** What was taken from the queue and was too much for the call. */
  #rest: Uint8Array | undefined

  private constructor(chunks: Queue.Dequeue<Uint8Array, E | Cause.Done>) {
    this.#chunks = chunks
  }

  /** Begins to take the bytes in; closing the scope ends that. */
  static open<E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<Inflow<E>, never, Scope.Scope> {
    return Effect.map(Stream.toQueue(bytes, { capacity: chunksAhead }), (chunks) => new Inflow(chunks))
  }

  /** What has come in, at least a byte and at most `bytesMax`; waits for it. Nothing when it is over. */
  read(bytesMax: number): Effect.Effect<Taken, E> {
    const rest = this.#rest
    if (rest !== undefined) return Effect.succeed(this.#cut(rest, bytesMax))
    return Effect.map(Queue.takeBetween(this.#chunks, 1, chunksAhead), (taken) =>
      this.#cut(joined(taken), bytesMax)
    ).pipe(Pull.catchDone(() => Effect.succeed({ bytes: new Uint8Array(), done: true })))
  }

  #cut(bytes: Uint8Array, bytesMax: number): Taken {
    this.#rest = bytes.length > bytesMax ? bytes.subarray(bytesMax) : undefined
    return { bytes: bytes.subarray(0, bytesMax), done: this.#rest === undefined && hasEnded(this.#chunks) }
  }
}

/** Whether nothing will follow, and not because of a failure. */
const hasEnded = <E>({ state }: Queue.Dequeue<Uint8Array, E | Cause.Done>): boolean =>
  state._tag === "Done" && Pull.isDoneCause(state.exit.cause)

export const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
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
