/** Verifies bytes against their checksum while they are read. */
import { Effect, Stream } from "effect"
import { utf8Encode } from "../../foundation/Utf8.ts"
import type { BlobHash } from "../../platform/blobs/BlobStore.ts"
import type { ExpectedContent } from "./Checksum.ts"

/**
 * Returns the bytes, and fails with the error of `damaged` unless they are the expected ones. It withholds the last chunk
 * until all bytes are verified, so no reader receives a damaged content completely.
 */
export const verified = <E, E2>(
  bytes: Stream.Stream<Uint8Array, E>,
  expected: ExpectedContent,
  newHash: () => BlobHash,
  damaged: Effect.Effect<never, E2>
): Stream.Stream<Uint8Array, E | E2> =>
  Stream.unwrap(
    Effect.sync(() => {
      const verifier = new Verifier(expected, newHash)
      let last: Uint8Array | null = null
      const passed = Stream.mapEffect(bytes, (chunk) =>
        Effect.map(verifier.add(chunk), () => {
          const previous = last
          last = chunk
          return previous ?? empty
        })
      )
      const end = Effect.flatMap(verifier.isExpected, (isExpected) =>
        isExpected ? Effect.succeed(last === null ? Stream.empty : Stream.make(last)) : damaged
      )
      return Stream.concat(
        Stream.filter(passed, (chunk) => chunk.length > 0),
        Stream.unwrap(Effect.suspend(() => end))
      )
    })
  )

const empty = new Uint8Array()

/** Hashes a content in the parts of its checksum. */
class Verifier {
  readonly #expected: ExpectedContent
  readonly #newHash: () => BlobHash
  /** Hash of the whole content, or of the digests of its parts. */
  readonly #whole: BlobHash
  readonly #sizes: Iterator<number>
  #part: BlobHash | null = null
  /** Bytes of the current part that have not arrived. */
  #rest = 0
  /** True if there are more bytes than the parts have. */
  #isTooLong = false

  constructor(expected: ExpectedContent, newHash: () => BlobHash) {
    this.#expected = expected
    this.#newHash = newHash
    this.#whole = newHash()
    this.#sizes = partSizes(expected)
  }

  /** Adds the next chunk, which the caller may free afterwards. */
  add(chunk: Uint8Array): Effect.Effect<void> {
    if (this.#expected.parts === null) {
      this.#whole.update(chunk)
      return Effect.void
    }
    return this.#addToParts(chunk)
  }

  /** True if all bytes were added and are the expected ones. */
  readonly isExpected: Effect.Effect<boolean> = Effect.suspend(() =>
    Effect.map(Effect.andThen(this.#nextPart(), this.#whole.digest), (digest) => {
      const isComplete = this.#expected.parts === null || (this.#rest === 0 && this.#sizes.next().done === true)
      return isComplete && !this.#isTooLong && digest === this.#expected.digest
    })
  )

  #addToParts(chunk: Uint8Array): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      for (let at = 0; at < chunk.length; ) {
        if (this.#rest === 0) yield* this.#nextPart()
        if (this.#part === null) {
          this.#isTooLong = true
          return
        }
        const taken = Math.min(this.#rest, chunk.length - at)
        this.#part.update(chunk.subarray(at, at + taken))
        this.#rest -= taken
        at += taken
      }
    })
  }

  /** Ends a complete part and begins the next one that is not empty. */
  #nextPart(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (this.#rest === 0) {
        if (this.#part !== null) this.#whole.update(utf8Encode(yield* this.#part.digest))
        const next = this.#sizes.next()
        this.#part = next.done === true ? null : this.#newHash()
        if (next.done === true) return
        this.#rest = next.value
      }
    })
  }
}

function* partSizes({ parts }: ExpectedContent): Generator<number, undefined> {
  for (const { size, count } of parts ?? []) for (let part = 0; part < count; part++) yield size
}
