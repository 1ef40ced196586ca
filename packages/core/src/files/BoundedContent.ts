/** Content that must not be larger than this and that, and must be as large as was announced. */
import { Effect, Stream } from "effect"
import type { Written } from "../blobs/BlobStore.ts"
import { BadRequest, type PlanRequired } from "../errors/Errors.ts"
import type { Content } from "./Files.ts"

export interface Bound {
  /** The most that passes. */
  readonly bytes: number
  /** What is said to who sends more. */
  readonly refusal: BadRequest | PlanRequired
}

/** Fails with the first bound that is less than a size that was announced. */
export const checkSize = (
  size: number | null,
  bounds: ReadonlyArray<Bound>
): Effect.Effect<void, BadRequest | PlanRequired> => {
  const passed = size === null ? undefined : bounds.find(({ bytes }) => size > bytes)
  return passed === undefined ? Effect.void : Effect.fail(passed.refusal)
}

/** The bytes of the content, cut off with an error as soon as they pass a bound. */
export const boundedBytes = <E>(
  { size, bytes }: Content<E>,
  bounds: ReadonlyArray<Bound>
): Stream.Stream<Uint8Array, E | BadRequest | PlanRequired> => {
  const all = size === null ? bounds : [...bounds, { bytes: size, refusal: unlikeAnnounced }]
  const least = all.reduce((least, bound) => (bound.bytes < least.bytes ? bound : least), unbounded)
  return Stream.suspend(() => {
    let total = 0
    return Stream.mapArrayEffect(bytes, (chunks) => {
      for (const chunk of chunks) total += chunk.length
      return total > least.bytes ? Effect.fail(least.refusal) : Effect.succeed(chunks)
    })
  })
}

/** Fails when what was written is not all that was announced. */
export const checkWritten = <E>({ size }: Content<E>, written: Written): Effect.Effect<Written, BadRequest> =>
  size === null || size === written.size ? Effect.succeed(written) : Effect.fail(unlikeAnnounced)

const unlikeAnnounced = new BadRequest({ reason: "The body has not as many bytes as were announced" })

const unbounded: Bound = { bytes: Number.POSITIVE_INFINITY, refusal: unlikeAnnounced }
