/**
 * Reads an object in chunks, always the object that existed at the beginning.
 *
 * After a lost connection it requests the rest, if the same object still exists.
 */
import type { IncomingMessage } from "node:http"
import type { ByteRange } from "@weft/core/adapter"
import { Cause, Effect, type Pull, type Scope, Stream } from "effect"
import { type Bucket, etagOf } from "./Bucket.ts"
import { failureOf, isPassing, orNull, S3Failure, strange, tooLate } from "./S3Failure.ts"

export interface Reading {
  /** Bytes that remain to be read. */
  readonly size: number
  readonly etag: string
  /** The next chunk, never empty. */
  readonly pull: Pull.Pull<readonly [Uint8Array], S3Failure>
}

/** Maximum reconnects in a row without a byte. */
const lostMax = 3

/** Opens an object; null if it does not exist. */
export const openReading = (
  bucket: Bucket,
  key: string,
  range?: ByteRange
): Effect.Effect<Reading | null, S3Failure, Scope.Scope> =>
  Effect.gen(function* () {
    // S3 has no empty range.
    if (range !== undefined && range.start >= range.end) {
      const found = yield* bucket.stat(key)
      return found === null ? null : { size: 0, etag: found.etag, pull: Cause.done() }
    }
    const from = range?.start ?? 0
    const first = yield* orNull(bucket.get(key, from, range?.end ?? null))
    if (first === null) return null
    const etag = etagOf(first)
    const size = Number(first.headers["content-length"])
    let body = bodyOf(first)
    yield* Effect.addFinalizer(() => Effect.sync(() => body.end()))
    if (!Number.isSafeInteger(size)) return yield* strange("Content-Length")
    let done = 0
    let lost = 0

    const resume = (failure: S3Failure) =>
      Effect.gen(function* () {
        body.end()
        if (++lost > lostMax || !isPassing(failure)) return yield* failure
        const rest = yield* bucket.get(key, from + done, from + size, etag)
        body = bodyOf(rest)
        if (etagOf(rest) !== etag) return yield* strange("ETag")
      })
    const next = Effect.suspend(() =>
      Effect.tryPromise({
        try: () => body.next(bucket.timeouts.responseMs),
        catch: (error) => (error instanceof S3Failure ? error : failureOf(error, null))
      })
    )
    const pull: Reading["pull"] = Effect.suspend(() =>
      done === size
        ? Cause.done()
        : Effect.matchEffect(next, {
            onFailure: (failure) => Effect.andThen(resume(failure), pull),
            onSuccess: (piece) => {
              done += piece.length
              lost = 0
              return Effect.succeed([piece] as const)
            }
          })
    )
    return { size, etag, pull }
  })

/** Reads the whole object into a buffer of its own; null if it does not exist. */
export const readObject = (
  bucket: Bucket,
  key: string
): Effect.Effect<{ readonly bytes: Uint8Array; readonly etag: string } | null, S3Failure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const reading = yield* openReading(bucket, key)
      if (reading === null) return null
      const bytes = new Uint8Array(reading.size)
      let at = 0
      yield* Stream.runForEach(Stream.fromPull(Effect.succeed(reading.pull)), (piece) =>
        Effect.sync(() => {
          bytes.set(piece, at)
          at += piece.length
        })
      )
      return { bytes, etag: reading.etag }
    })
  )

interface Body {
  /** Fails when the body ends, or after so many milliseconds without a byte. */
  readonly next: (ms: number) => Promise<Uint8Array>
  readonly end: () => void
}

const bodyOf = (response: IncomingMessage): Body => {
  const pieces: AsyncIterator<Uint8Array> = response[Symbol.asyncIterator]()
  return {
    next: (ms) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(tooLate), ms)
        pieces
          .next()
          .then(({ done, value }) => (done === true ? reject(cutShort) : resolve(value)))
          .catch(reject)
          .finally(() => clearTimeout(timer))
      }),
    end: () => void response.destroy()
  }
}

const cutShort = new S3Failure({ code: "ECONNRESET", status: null })
