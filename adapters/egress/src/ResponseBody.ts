/**
 * The body of a response: decompressed, counted, and taken only as fast as it is asked for.
 *
 * It is counted as it comes in and after each step that unfolds it: a few bytes can become gigabytes, also of what the
 * next step only skips.
 */
import { pipeline, Readable, type Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { EgressFailed, type HeaderList } from "@weft/core"
import { Cause, Effect, Stream } from "effect"
import { failureOf } from "./faults.ts"

/** What a decoder of zstd has to be ready to keep for a sender: 8 MiB, as RFC 8878, 3.1.1.1.2 has it. */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", () => createInflate()],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress(zstdWindow)]
])

/** Codings on top of each other; each costs memory, and nobody means more. */
const codingsMax = 2

export interface Content {
  /** Without those that are not true of the body any more. */
  readonly headers: HeaderList
  readonly body: Stream.Stream<Uint8Array, EgressFailed>
}

export interface ContentLimits {
  /** Before, between and after the steps of decompression. */
  readonly bytesMax: number
  /** Called when the body has come to its end. */
  readonly onEnd: () => void
}

export const contentOf = (
  raw: Readable,
  headers: HeaderList,
  limits: ContentLimits
): Effect.Effect<Content, EgressFailed> => {
  const codings = headers
    .flatMap(([name, text]) => (name === "content-encoding" ? text.toLowerCase().split(",") : []))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity")
  const makers = codings.toReversed().map((coding) => decoders.get(coding))
  if (codings.length === 0 || makers.includes(undefined)) {
    return Effect.succeed({ headers, body: taken(raw, limits, () => false) })
  }
  if (codings.length > codingsMax) {
    return Effect.fail(new EgressFailed({ reason: "the response is compressed more than twice" }))
  }
  const steps = makers.flatMap((make) => (make === undefined ? [] : [make()]))
  const count = { bytes: 0 }
  // Errors are read off the last step; there is nobody else to tell.
  const decoded = steps.reduce<Readable>(
    (source, step, index) =>
      pipeline(limited(source, limits.bytesMax, index === 0 ? count : { bytes: 0 }), step, () => undefined),
    raw
  )
  return Effect.succeed({
    headers: headers.filter(([name]) => name !== "content-encoding" && name !== "content-length"),
    // Nothing at all is not compressed, whatever the headers say.
    body: taken(decoded, limits, () => raw.readableEnded && count.bytes === 0)
  })
}

const limited = (source: Readable, bytesMax: number, count: { bytes: number }): Readable =>
  Readable.from(counting(source, bytesMax, count), { objectMode: false })

async function* counting(source: Readable, bytesMax: number, count: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    count.bytes += chunk.length
    if (count.bytes > bytesMax) throw tooLarge(bytesMax)
    yield chunk
  }
}

/** Every chunk is asked for by itself; whoever stops asking stops the sender. A failure where `isOver` is the end. */
const taken = (
  source: Readable,
  { bytesMax, onEnd }: ContentLimits,
  isOver: () => boolean
): Stream.Stream<Uint8Array, EgressFailed> =>
  Stream.fromPull(
    Effect.sync(() => {
      const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]()
      let bytes = 0
      return Effect.tryPromise({ try: () => chunks.next(), catch: failureOf }).pipe(
        Effect.catchIf(isOver, () => Effect.succeed(ended)),
        Effect.flatMap((next): Effect.Effect<readonly [Uint8Array], EgressFailed | Cause.Done> => {
          if (next.done === true) {
            onEnd()
            return Cause.done()
          }
          bytes += next.value.length
          if (bytes <= bytesMax) return Effect.succeed([next.value])
          const failure = tooLarge(bytesMax)
          source.destroy(failure)
          return Effect.fail(failure)
        })
      )
    })
  )

const ended: IteratorResult<Uint8Array> = { done: true, value: undefined }

const tooLarge = (bytesMax: number): EgressFailed =>
  new EgressFailed({ reason: `the body of the response is over ${bytesMax} bytes` })
