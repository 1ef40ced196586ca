/** Checks of content against several size limits and against its declared size. */
import { Effect, Stream } from "effect"
import { BadRequest, type PlanRequired } from "../../foundation/Errors.ts"
import type { WrittenBlob } from "../../platform/blobs/BlobStore.ts"
import type { Content } from "./Files.ts"

export interface Bound {
  /** Maximum size in bytes. */
  readonly bytes: number
  /** Error for larger content. */
  readonly refusal: BadRequest | PlanRequired
}

/** Fails with the first bound that a declared size exceeds. */
export const checkSize = (
  size: number | null,
  bounds: ReadonlyArray<Bound>
): Effect.Effect<void, BadRequest | PlanRequired> => {
  const passed = size === null ? undefined : bounds.find(({ bytes }) => size > bytes)
  return passed === undefined ? Effect.void : Effect.fail(passed.refusal)
}

/** Returns the bytes of the content. The stream fails as soon as they exceed a bound. */
export const boundedBytes = <E>(
  { size, bytes }: Content<E>,
  bounds: ReadonlyArray<Bound>
): Stream.Stream<Uint8Array, E | BadRequest | PlanRequired> => {
  const all = size === null ? bounds : [...bounds, { bytes: size, refusal: wrongSize }]
  const least = all.reduce((least, bound) => (bound.bytes < least.bytes ? bound : least), unbounded)
  return Stream.suspend(() => {
    let total = 0
    return Stream.mapArrayEffect(bytes, (chunks) => {
      for (const chunk of chunks) total += chunk.length
      return total > least.bytes ? Effect.fail(least.refusal) : Effect.succeed(chunks)
    })
  })
}

/** Fails if the written size differs from the declared size. */
export const checkWritten = <E>({ size }: Content<E>, written: WrittenBlob): Effect.Effect<WrittenBlob, BadRequest> =>
  size === null || size === written.size ? Effect.succeed(written) : Effect.fail(wrongSize)

const wrongSize = new BadRequest({ reason: "The size of the body differs from its declared size" })

const unbounded: Bound = { bytes: Number.POSITIVE_INFINITY, refusal: wrongSize }
