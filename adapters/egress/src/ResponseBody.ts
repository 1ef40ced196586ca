/**
 * Decompresses the body of a response, limits its size, and reads it with back-pressure.
 *
 * The size is limited as received and after each decompression step. A few bytes can become gigabytes, and the next step
 * may skip them without output.
 */
import { pipeline, Readable, type Transform } from "node:stream"
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib"
import { EgressFailed, type HeaderList } from "@weft/core/adapter"
import { Cause, Effect, Stream } from "effect"
import { toFailure } from "./failures.ts"

/** Maximum window of zstd: 8 MiB, as recommended by RFC 8878, section 3.1.1.1.2. */
const zstdWindow = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", () => createInflate()],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress(zstdWindow)]
])

/** Maximum nested codings. Each costs memory, and real servers use no more. */
const codingsMax = 2

export interface Content {
  /** Without the headers that do not describe the decoded body. */
  readonly headers: HeaderList
  readonly body: Stream.Stream<Uint8Array, EgressFailed>
}

export interface ContentLimits {
  /** Maximum size before, between and after the decompression steps. */
  readonly bytesMax: number
  /** Called at the end of the body. */
  readonly onEnd: () => void
}

export const decodeContent = (
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
    return Effect.succeed({ headers, body: limitedStream(raw, limits, () => false) })
  }
  if (codings.length > codingsMax) {
    return Effect.fail(new EgressFailed({ reason: "the response is compressed more than twice" }))
  }
  const steps = makers.flatMap((make) => (make === undefined ? [] : [make()]))
  const count = { bytes: 0 }
  // The reader of the last step receives all errors.
  const decoded = steps.reduce<Readable>(
    (source, step, index) =>
      pipeline(limited(source, limits.bytesMax, index === 0 ? count : { bytes: 0 }), step, () => undefined),
    raw
  )
  return Effect.succeed({
    headers: headers.filter(([name]) => name !== "content-encoding" && name !== "content-length"),
    // An empty body is valid, even if the headers declare a coding.
    body: limitedStream(decoded, limits, () => raw.readableEnded && count.bytes === 0)
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

/** Reads one chunk per pull, so that a slow reader slows down the sender. If `isOver`, a failure is the end. */
const limitedStream = (
  source: Readable,
  { bytesMax, onEnd }: ContentLimits,
  isOver: () => boolean
): Stream.Stream<Uint8Array, EgressFailed> =>
  Stream.fromPull(
    Effect.sync(() => {
      const chunks: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]()
      let bytes = 0
      return Effect.tryPromise({ try: () => chunks.next(), catch: toFailure }).pipe(
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
