import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { NodeId } from "../../../src/foundation/Ids.ts"
import { NodeMetrics } from "../../../src/foundation/telemetry/NodeMetrics.ts"
import { Timestamp } from "../../../src/foundation/time/Timestamp.ts"
import { MemoryStores } from "../../../src/memory/MemoryStores.ts"
import { type BlobHash, BlobStore } from "../../../src/platform/blobs/BlobStore.ts"
import { AuditStore } from "../../../src/resources/audit/AuditStore.ts"
import { formatParts, formatWhole, parseChecksum } from "../../../src/resources/files/Checksum.ts"
import type { File } from "../../../src/resources/files/File.ts"
import { Files } from "../../../src/resources/files/Files.ts"
import { scrubberLayer } from "../../../src/resources/files/Scrubber.ts"
import { ScrubStore } from "../../../src/resources/files/ScrubStore.ts"
import { Uploads } from "../../../src/resources/files/Uploads.ts"
import { verified } from "../../../src/resources/files/Verification.ts"
import { bytes, envOn, MiB, onStores, putPart, upload } from "./Fixtures.ts"

const services = onStores.pipe(Layer.provideMerge(Layer.merge(MemoryStores.layer, NodeMetrics.layer)))
type Services = Layer.Success<typeof services>

const check = <E>(claim: string, body: Effect.Effect<void, E, Services>) =>
  it.effect(claim, () => Effect.provide(body, services))

/** Changes one byte of a blob. */
const damage = (key: string, at = 0) =>
  BlobStore.use((blobs) =>
    Effect.flatMap(blobs.get(key), (stored) => {
      stored[at] = (stored[at] ?? 0) ^ 1
      return blobs.put(key, stored)
    })
  )

/** Reads a file. Returns the bytes before the end or the failure, and the failure's tag. */
const read = Effect.fnUntraced(function* (file: Pick<File, "file_id">, range?: { start: number; end: number }) {
  const files = yield* Files
  let received = 0
  const opened = yield* files.open(file.file_id)
  const exit = yield* Effect.flip(
    Effect.flatMap(opened.read(range), (stream) =>
      Stream.runForEach(stream, (chunk) =>
        Effect.sync(() => {
          received += chunk.length
        })
      )
    ).pipe(Effect.flatMap(() => Effect.fail({ _tag: "complete" as const })))
  )
  return { received, outcome: exit._tag }
}, Effect.scoped)

const damages = Effect.map(
  AuditStore.use((audit) => audit.list({}, { limit: 100, offset: 0 })),
  ({ items }) => items.filter(({ action }) => action.endsWith(".damage")).map((entry) => entry.object_id)
)

const counted = Effect.map(
  NodeMetrics.use((metrics) => metrics.read),
  (series) =>
    series.flatMap((each) =>
      each.name === "weft_damaged_contents_total" && each.labels.kind === "file" && "value" in each ? each.value : []
    )
)

/** A file of 12 MiB in parts of different sizes. */
const multipart = Effect.gen(function* () {
  const uploads = yield* Uploads
  const { upload_id } = yield* uploads.initiate({ path: "parts" })
  for (const [number, size] of [6 * MiB, 5 * MiB, 700_001].entries())
    yield* putPart(upload_id, number + 1, bytes(size, number + 1))
  return yield* uploads.complete(upload_id)
})

describe("a damaged file", () => {
  check(
    "fails before its first byte if it is small",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const file = yield* host(upload("a", bytes(1000)))
      assert.deepStrictEqual(yield* host(read(file)), { received: 1000, outcome: "complete" })
      yield* damage(file.storage_path, 999)
      assert.deepStrictEqual(yield* host(read(file)), { received: 0, outcome: "ContentDamaged" })
    })
  )

  check(
    "is never returned completely if it is large",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const file = yield* host(upload("a", bytes(2 * MiB)))
      assert.deepStrictEqual(yield* host(read(file)), { received: 2 * MiB, outcome: "complete" })
      yield* damage(file.storage_path)
      const { received, outcome } = yield* host(read(file))
      assert.strictEqual(outcome, "ContentDamaged")
      assert.isBelow(received, 2 * MiB)
    })
  )

  check(
    "is detected if bytes were cut off or added",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const blobs = yield* BlobStore
      const [whole, parts] = [yield* host(upload("a", bytes(1000))), yield* host(multipart)]
      for (const file of [whole, parts]) {
        const stored = yield* blobs.get(file.storage_path)
        for (const changed of [stored.slice(0, -1), new Uint8Array([...stored, 0]), new Uint8Array()]) {
          yield* blobs.put(file.storage_path, changed)
          assert.strictEqual((yield* host(read(file))).outcome, "ContentDamaged")
        }
      }
    })
  )

  check(
    "is detected in each of its parts",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const file = yield* host(multipart)
      assert.deepStrictEqual(yield* host(read(file)), { received: file.size, outcome: "complete" })
      for (const at of [0, 6 * MiB - 1, 6 * MiB, 11 * MiB, file.size - 1]) {
        yield* damage(file.storage_path, at)
        assert.strictEqual((yield* host(read(file))).outcome, "ContentDamaged")
        yield* damage(file.storage_path, at)
      }
      assert.strictEqual((yield* host(read(file))).outcome, "complete")
    })
  )

  check(
    "is not detected by reading a range of it",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const file = yield* host(upload("a", bytes(1000)))
      yield* damage(file.storage_path)
      assert.deepStrictEqual(yield* host(read(file, { start: 0, end: 999 })), { received: 999, outcome: "complete" })
      assert.strictEqual((yield* host(read(file, { start: 0, end: 1000 }))).outcome, "ContentDamaged")
    })
  )

  check(
    "is counted with each read, and added to the audit log once an hour",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const file = yield* host(upload("a", bytes(1000)))
      yield* damage(file.storage_path)
      for (let times = 0; times < 3; times++) yield* host(read(file))
      assert.deepStrictEqual([yield* damages, yield* counted], [[file.file_id], [3]])
      yield* TestClock.adjust("1 hour")
      yield* host(read(file))
      assert.deepStrictEqual(yield* damages, [file.file_id, file.file_id])
    })
  )
})

describe("the scrubber", () => {
  const scrubbing = (bytesPerSecond: number) => Layer.build(scrubberLayer({ bytesPerSecond }))
  const pass = Effect.fnUntraced(function* (seconds = 60) {
    for (let second = 0; second < seconds; second++) {
      yield* TestClock.adjust("1 second")
      // The digests are computed in other threads.
      for (let turn = 0; turn < 10; turn++) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
  })

  /** Advances the clock until so many damages are reported. */
  const untilDamaged = Effect.fnUntraced(function* (count: number) {
    for (let turn = 0; turn < 200 && (yield* damages).length < count; turn++) {
      yield* pass(1)
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
    }
  })

  check(
    "finds damage in files that nobody reads, and again after a day",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const files = yield* Effect.forEach(["a", "b", "c"], (path) => host(upload(path, bytes(1000))))
      const parts = yield* host(multipart)
      yield* damage(files[1]?.storage_path ?? "")
      yield* damage(parts.storage_path, 8 * MiB)
      yield* scrubbing(2 * MiB)
      yield* untilDamaged(2)
      yield* pass(20)
      const damaged: ReadonlyArray<string | null> = [files[1]?.file_id ?? "", parts.file_id].sort()
      assert.deepStrictEqual([...(yield* damages)].sort(), damaged)
      yield* damage(files[2]?.storage_path ?? "")
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* damages).length, 2)
      yield* TestClock.adjust("1 hour")
      yield* untilDamaged(5)
      assert.isTrue((yield* damages).includes(files[2]?.file_id ?? ""))
    }).pipe(Effect.scoped)
  )

  check(
    "reads no more bytes per second than allowed",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      for (const path of ["a", "b", "c", "d"]) yield* host(upload(path, bytes(100_000)))
      yield* scrubbing(10_000)
      for (let turn = 0; turn < 25; turn++) {
        yield* pass(1)
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
      }
      const series = yield* NodeMetrics.use((metrics) => metrics.read)
      const read = series.flatMap((each) =>
        each.name === "weft_scrubbed_bytes_total" && "value" in each ? each.value : []
      )
      assert.isAtMost(Number(read[0]), 350_000)
      assert.isAbove(Number(read[0]), 100_000)
    }).pipe(Effect.scoped)
  )

  check(
    "continues at the stored position",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const [first, second] = yield* Effect.forEach(["a", "b"], (path) => host(upload(path, bytes(1000))))
      for (const file of [first, second]) yield* damage(file?.storage_path ?? "")
      const store = yield* ScrubStore
      const other = NodeId.make("01890000-0000-7000-8000-000000000001")
      yield* store.claim(other, Timestamp.make(0), Timestamp.make(1))
      yield* store.advance(other, `file ${first?.file_id}`, Timestamp.make(1))
      yield* TestClock.adjust(10)
      yield* scrubbing(MiB)
      yield* untilDamaged(1)
      yield* pass(5)
      assert.deepStrictEqual(yield* damages, [second?.file_id] as ReadonlyArray<string | null>)
    }).pipe(Effect.scoped)
  )

  check(
    "can be turned off",
    Effect.gen(function* () {
      const { host } = yield* envOn("Starter")
      const file = yield* host(upload("a", bytes(1000)))
      yield* damage(file.storage_path)
      yield* scrubbing(0)
      yield* pass()
      assert.deepStrictEqual(yield* damages, [])
    }).pipe(Effect.scoped)
  )
})

describe("a checksum", () => {
  const newHash = (): BlobHash => {
    const hash = createHash("sha256")
    return { update: (part) => void hash.update(part), digest: Effect.sync(() => hash.digest("hex")) }
  }
  const toWritten = (part: Uint8Array) => ({
    size: part.length,
    digest: `${createHash("sha256").update(part).digest("hex")}0af`
  })
  const isVerified = (chunks: ReadonlyArray<Uint8Array>, text: string | null, etag = '"x"') => {
    const expected = parseChecksum({ storage_path: "key", etag, checksum: text })
    if (expected === null) return null
    const stream = verified(Stream.fromIterable(chunks), expected, newHash, Effect.fail("damaged"))
    return Exit.isSuccess(Effect.runSyncExit(Stream.runDrain(stream)))
  }
  const chunksOf = (all: Uint8Array, size: number) =>
    Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.subarray(n * size, (n + 1) * size))

  it("verifies parts of any sizes in chunks of any size, and detects every changed byte", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(),
        (parts, size, at) => {
          const text = Effect.runSync(formatParts("key", parts.map(toWritten), newHash))
          const all = new Uint8Array(parts.flatMap((part) => [...part]))
          assert.strictEqual(isVerified(chunksOf(all, size), text), true)
          if (all.length === 0) return
          assert.strictEqual(isVerified(chunksOf(all.subarray(1), size), text), false)
          assert.strictEqual(isVerified([...chunksOf(all, size), new Uint8Array(1)], text), false)
          const changed = all.slice()
          changed[at % all.length] = (changed[at % all.length] ?? 0) ^ 16
          assert.strictEqual(isVerified(chunksOf(changed, size), text), false)
        }
      )
    )
  })

  it("combines parts of equal size", () => {
    const parts = [3, 3, 3, 2].map((size) => toWritten(bytes(size)))
    assert.match(Effect.runSync(formatParts("key", parts, newHash)), /^key sha256-parts:3x3,2x1:[0-9a-f]{64}$/)
  })

  it("of another blob is ignored, because an older release does not replace it", () => {
    const all = bytes(10)
    const digest = createHash("sha256").update(all).digest("hex")
    const foreign = formatWhole("other", toWritten(bytes(11)))
    assert.strictEqual(isVerified([all], foreign, `"${digest}"`), true)
    assert.strictEqual(isVerified([bytes(9)], foreign, `"${digest}"`), false)
    assert.strictEqual(isVerified([all], null, `"${digest}"`), true)
    assert.isNull(isVerified([all], null, `"${digest}x2"`))
    assert.isNull(isVerified([all], "key sha1:00", '"5d41402abc4b2a76b9719d911017c592"'))
  })
})
