/** Reads bytes ahead of the guest's calls, at most as many as one call returns. */
import { type Cause, Effect, Pull, Queue, type Scope, Stream } from "effect"
import { utf8StreamDecoder } from "../../foundation/Utf8.ts"

/** Maximum chunks to read ahead. A chunk of a connection or a file has at most 64 KiB. */
const chunksAhead = 8

export interface ReadBytes {
  readonly bytes: Uint8Array
  /** True if these are the last bytes. */
  readonly done: boolean
}

export class ReadAhead<E> {
  readonly #chunks: Queue.Dequeue<Uint8Array, E | Cause.Done>
  /** Decodes bytes that the guest reads as text. */
  readonly decodeText = utf8StreamDecoder()
  /** Bytes that were taken from the queue and exceeded the size of the call. */
  #rest: Uint8Array | undefined

  private constructor(chunks: Queue.Dequeue<Uint8Array, E | Cause.Done>) {
    this.#chunks = chunks
  }

  /** Starts to read ahead, until the scope closes. */
  static open<E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<ReadAhead<E>, never, Scope.Scope> {
    return Effect.map(Stream.toQueue(bytes, { capacity: chunksAhead }), (chunks) => new ReadAhead(chunks))
  }

  /** Waits for at least one byte and returns at most `bytesMax`. Returns none at the end. */
  read(bytesMax: number): Effect.Effect<ReadBytes, E> {
    const rest = this.#rest
    if (rest !== undefined) return Effect.succeed(this.#cut(rest, bytesMax))
    return Effect.map(Queue.takeBetween(this.#chunks, 1, chunksAhead), (taken) =>
      this.#cut(concatBytes(taken), bytesMax)
    ).pipe(Pull.catchDone(() => Effect.succeed({ bytes: new Uint8Array(), done: true })))
  }

  #cut(bytes: Uint8Array, bytesMax: number): ReadBytes {
    this.#rest = bytes.length > bytesMax ? bytes.subarray(bytesMax) : undefined
    return { bytes: bytes.subarray(0, bytesMax), done: this.#rest === undefined && hasEnded(this.#chunks) }
  }
}

/** True if the queue has ended without a failure. */
const hasEnded = <E>({ state }: Queue.Dequeue<Uint8Array, E | Cause.Done>): boolean =>
  state._tag === "Done" && Pull.isDoneCause(state.exit.cause)

export const concatBytes = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
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
