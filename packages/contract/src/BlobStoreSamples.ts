/** Sample bytes, and streams of them. */
import type { BlobStore, ByteRange } from "@weft/core/adapter"
import { Bytes, Deferred, Effect, Fiber, Stream } from "effect"

/** Returns bytes with all values, in an order that depends on the seed. */
export const bytes = (length: number, seed = 1): Uint8Array => {
  const made = new Uint8Array(length)
  for (let index = 0; index < length; index++) made[index] = index * 31 + (index >> 8) * 17 + seed
  return made
}

export const isSame = (a: Uint8Array, b: Uint8Array): boolean => Bytes.Equivalence(a, b)

/** Streams the bytes in chunks of this size. The last one may be shorter. */
export const streamed = (whole: Uint8Array, chunkBytes: number): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(whole.length / chunkBytes) }, (_, index) =>
      whole.subarray(index * chunkBytes, (index + 1) * chunkBytes)
    )
  )

export const collected = <E>(stream: Stream.Stream<Uint8Array, E>): Effect.Effect<Uint8Array, E> =>
  Effect.map(Stream.runCollect(stream), (pieces) => Bytes.concat(pieces))

export const readAll = (store: BlobStore["Service"], key: string, range?: ByteRange) =>
  Effect.scoped(Effect.flatMap(store.read(key, range), collected))

/** A stream that fails after these bytes. */
export const failing = (before: Uint8Array): Stream.Stream<Uint8Array, "torn"> =>
  Stream.concat(streamed(before, 1000), Stream.fail("torn" as const))

/** Reads an endless stream with the given consumer, and interrupts it after these bytes. */
export const interrupted = <A, E>(
  before: Uint8Array,
  write: (stream: Stream.Stream<Uint8Array>) => Effect.Effect<A, E>
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const taken = yield* Deferred.make<void>()
    const notify = Stream.drain(Stream.fromEffect(Deferred.succeed(taken, undefined)))
    const fiber = yield* Effect.forkChild(
      write(streamed(before, 1000).pipe(Stream.concat(notify), Stream.concat(Stream.never)))
    )
    yield* Deferred.await(taken)
    yield* Fiber.interrupt(fiber)
  })
