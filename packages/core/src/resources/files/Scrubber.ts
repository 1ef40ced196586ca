/**
 * Verifies all stored files and builds in the background, at a bounded rate, so that damage is found before the bytes are
 * needed. One node at a time does so. The position survives restarts.
 */
import { Clock, Effect, Layer, Stream } from "effect"
import type { ContentDamaged, NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import { freshIds, NodeId } from "../../foundation/Ids.ts"
import { forkSupervised, logOutage } from "../../foundation/Supervised.ts"
import { NodeMetrics } from "../../foundation/telemetry/NodeMetrics.ts"
import { Timestamp } from "../../foundation/time/Timestamp.ts"
import { BlobStore } from "../../platform/blobs/BlobStore.ts"
import { parseChecksum } from "./Checksum.ts"
import { DamageReports, failDamaged } from "./DamageReports.ts"
import { Readers } from "./Readers.ts"
import { ScrubStore, type ScrubTarget, scrubPosition } from "./ScrubStore.ts"
import { verified } from "./Verification.ts"

export interface ScrubConfig {
  /** Maximum bytes per second that the scrubber reads; 1 MiB by default, 0 to turn it off. */
  readonly bytesPerSecond?: number
}

const bytesPerSecondDefault = 1024 ** 2

/** Duration of a claim, and interval in which it is extended during a large target, in milliseconds. */
const claimMs = 300_000
const extendMs = 60_000

/** Interval of attempts to claim the scrubber, and minimum duration of a pass, in milliseconds: 1 day. */
const retryMs = 60_000
const passMs = 86_400_000

/** Minimum pause between two targets in milliseconds, so that many small ones cost little. */
const pauseMs = 10

const batch = 20

export const scrubberLayer = ({ bytesPerSecond = bytesPerSecondDefault }: ScrubConfig = {}) =>
  bytesPerSecond === 0 ? Layer.empty : Layer.effectDiscard(makeScrubber(bytesPerSecond))

const makeScrubber = Effect.fnUntraced(function* (bytesPerSecond: number) {
  const store = yield* ScrubStore
  const scrub = yield* makeScrub(bytesPerSecond)
  const freshId = yield* freshIds
  const node = yield* freshId(NodeId)
  let passBegan: number | null = null

  const until = Effect.map(Clock.currentTimeMillis, (now) => Timestamp.make(now + claimMs))

  /** Verifies a target and extends the claim meanwhile. Returns false if the claim is lost. */
  const step = Effect.fnUntraced(function* (target: ScrubTarget, position: string) {
    const keep = Effect.forever(
      Effect.andThen(
        Effect.sleep(extendMs),
        Effect.flatMap(until, (instant) => store.advance(node, position, instant))
      )
    )
    yield* Effect.raceFirst(scrub(target), keep)
    return yield* store.advance(node, scrubPosition(target), yield* until)
  })

  /** Verifies all targets after the position, until the end or until the claim is lost. */
  const pass = Effect.fnUntraced(function* (from: string) {
    let position = from
    while (true) {
      const targets = yield* store.targets(position, batch)
      for (const target of targets) {
        if (!(yield* step(target, position))) return false
        position = scrubPosition(target)
        yield* Effect.sleep(pauseMs)
      }
      if (targets.length < batch) return yield* store.advance(node, "", yield* until)
    }
  })

  yield* forkSupervised(
    { name: "The scrubber", afterFailure: Effect.sleep(retryMs) },
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const rest = passBegan === null ? 0 : passBegan + passMs - now
      if (rest > 0) yield* Effect.sleep(Math.min(rest, passMs))
      const began = yield* Clock.currentTimeMillis
      const position = yield* store.claim(node, Timestamp.make(began), yield* until)
      if (position !== null && (yield* pass(position))) passBegan = began
      else yield* Effect.sleep(retryMs)
    })
  )
})

/** Returns a function that reads a target, verifies it and reports damage. */
const makeScrub = Effect.fnUntraced(function* (bytesPerSecond: number) {
  const blobs = yield* BlobStore
  const readers = yield* Readers
  const reports = yield* DamageReports
  const metrics = yield* NodeMetrics
  let bytes = 0
  metrics.register(
    Effect.sync(() => [
      {
        type: "counter" as const,
        name: "weft_scrubbed_bytes_total",
        help: "Bytes of files and builds that the scrubber of this node read",
        labels: {},
        value: bytes
      }
    ])
  )

  const read = Effect.fnUntraced(function* (target: ScrubTarget) {
    const expected = parseChecksum(target)
    if (expected === null) return
    yield* readers.enter(target.storage_path)
    const content = yield* blobs.read(target.storage_path)
    yield* Stream.runForEach(verified(content, expected, blobs.newHash, failDamaged(reports, target)), (chunk) => {
      bytes += chunk.length
      return Effect.sleep(Math.ceil((chunk.length / bytesPerSecond) * 1000))
    })
  }, Effect.scoped)

  return (target: ScrubTarget): Effect.Effect<void> =>
    read(target).pipe(
      Effect.catch((error: ContentDamaged | NotFound | StoreUnavailable) => {
        // A damaged target is reported. A missing one may just have been removed; its reader would report it.
        if (error._tag === "StoreUnavailable") return logOutage(error)
        return Effect.void
      })
    )
})
