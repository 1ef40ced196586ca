/** Bytes for blobs, and streams of them. */
import type { BlobStore, ByteRange } from "@weft/core"
import { Bytes, Deferred, Effect, Fiber, Stream } from "effect"

/** Bytes of every value, in an order of their own for each seed. */
export const bytes = (length: number, seed = 1): Uint8Array => {
  const made = new Uint8Array(length)
  for (let index = 0; index < length; index++) made[index] = index * 31 + (index >> 8) * 17 + seed
  return made
}

export const isSame = (a: Uint8Array, b: Uint8Array): boolean => Bytes.Equivalence(a, b)

/** In pieces of this many bytes; the last has what is left. */
export const streamed = (whole: Uint8Array, pieceBytes: number): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(whole.length / pieceBytes) }, (_, index) =>
      whole.subarray(index * pieceBytes, (index + 1) * pieceBytes)
    )
  )

export const collected = <E>(stream: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E> =>
  Effect.map(Stream.runCollect(stream), (pieces) => Bytes.concat(pieces))

export const readAll = (store: BlobStore["Service"], key: string, range?: ByteRange) =>
  Effect.scoped(Effect.flatMap(store.read(key, range), collected))

/** Fails after its bytes. */
export const failing = (before: Uint8Array): Stream.Stream<Uint8Array, "torn"> =>
  Stream.concat(streamed(before, 1000), Stream.fail("torn" as const))

/** Interrupts what reads the stream after it took these bytes, of a stream that would never end. */
export const interrupted = <A, E>(
  before: Uint8Array,
  write: (stream: Stream.Stream<Uint8Array>) => Effect.Effect<A, E>
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const taken = yield* Deferred.make<void>()
    const told = Stream.drain(Stream.fromEffect(Deferred.succeed(taken, undefined)))
    const fiber = yield* Effect.forkChild(
      write(streamed(before, 1000).pipe(Stream.concat(told), Stream.concat(Stream.never)))
    )
    yield* Deferred.await(taken)
    yield* Fiber.interrupt(fiber)
  })
