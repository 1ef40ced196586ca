/**
 * Model of `BlobStore`: after random commands, a store must return and store the same as the in-memory store.
 *
 * Each store chooses its own digests. The model compares whether they are equal for equal contents.
 */
import { assert, describe, it } from "@effect/vitest"
import { type BlobPart, BlobStore } from "@weft/core/adapter"
import { MemoryStores } from "@weft/core/testing"
import { Context, Effect, Layer } from "effect"
import * as fc from "fast-check"
import { bytes, failing, readAll, streamed } from "./BlobStoreSamples.ts"

const keys = ["files/1/a", "files/1/b"] as const

/** Sizes, including those near the chunk sizes of stores. */
const size = fc.oneof(fc.nat({ max: 40 }), fc.constantFrom(0, 32_768, 65_535, 65_536, 131_072, 131_073, 200_000))
const key = fc.constantFrom(...keys)
const seed = fc.nat({ max: 5 })
const upload = fc.nat({ max: 2 })
const number = fc.integer({ min: 1, max: 4 })
/** True in one of ten cases. */
const seldom = fc.nat({ max: 9 }).map((n) => n === 0)

type Command =
  | { readonly _tag: "Put" | "Write"; readonly key: string; readonly size: number; readonly seed: number }
  | { readonly _tag: "Tear" | "Remove" | "Begin"; readonly key: string }
  | {
      readonly _tag: "Part"
      readonly upload: number
      readonly number: number
      readonly size: number
      readonly seed: number
    }
  | { readonly _tag: "Drop"; readonly upload: number }
  | {
      readonly _tag: "Join"
      readonly upload: number
      readonly numbers: ReadonlyArray<number>
      readonly stale: boolean
      readonly bold: boolean
    }
  | { readonly _tag: "Read"; readonly key: string; readonly from: number; readonly to: number }

const tagged = <const Tag extends string>(tag: Tag) => fc.constant(tag)

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ _tag: fc.constantFrom("Put" as const, "Write" as const), key, size, seed }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constantFrom("Tear" as const, "Remove" as const), key }) },
  { weight: 3, arbitrary: fc.record({ _tag: tagged("Begin"), key }) },
  { weight: 8, arbitrary: fc.record({ _tag: tagged("Part"), upload, number, size, seed }) },
  { weight: 1, arbitrary: fc.record({ _tag: tagged("Drop"), upload }) },
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: tagged("Join"),
      upload,
      numbers: fc.shuffledSubarray([1, 2, 3, 4], { minLength: 2 }),
      stale: seldom,
      bold: seldom
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ _tag: tagged("Read"), key, from: fc.nat({ max: 100 }), to: fc.nat({ max: 100 }) })
  }
)

export const blobStoreModel = <E>(adapter: string, layer: Layer.Layer<BlobStore, E>, histories: number): void => {
  describe(`BlobStore model: ${adapter}`, () => {
    it(`agrees with memory on ${histories} random histories`, { timeout: 120_000 }, () =>
      compareBlobsWithMemory(layer, histories)
    )
  })
}

/** Rejects with the seed and the shortest history for which the store differs from the in-memory store. */
export const compareBlobsWithMemory = <E>(
  layer: Layer.Layer<BlobStore, E>,
  histories: number,
  seed?: number
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 25 }), (commands) =>
      Effect.runPromise(Effect.scoped(compare(commands, layer)))
    ),
    { numRuns: histories, ...(seed === undefined ? {} : { seed }) }
  )

const compare = <E>(commands: ReadonlyArray<Command>, layer: Layer.Layer<BlobStore, E>) =>
  Effect.gen(function* () {
    const model = makeSubject(Context.get(yield* Layer.build(Layer.fresh(MemoryStores.layer)), BlobStore))
    const subject = makeSubject(Context.get(yield* Layer.build(Layer.fresh(layer)), BlobStore))
    for (const [index, next] of commands.entries()) {
      const expected = yield* model.apply(next)
      assert.deepStrictEqual(yield* subject.apply(next), expected, `result of command ${index}, ${next._tag}`)
      assert.deepStrictEqual(yield* subject.contents, yield* model.contents, `contents after command ${index}`)
    }
  })

interface StartedUpload {
  readonly key: string
  readonly name: string
  readonly parts: Map<number, BlobPart>
}

/** One of the two stores, with the state of its caller. */
const makeSubject = (store: BlobStore["Service"]) => {
  const begun: Array<StartedUpload> = []
  /** Digests by content. Equal parts must have equal digests, and equal blobs as well. A part may differ from a blob. */
  const digests = new Map<string, string>()

  const compareDigest = (content: string, digest: string): string => {
    const before = digests.get(content) ?? digest
    digests.set(content, digest)
    return before === digest ? "same digest" : "another digest"
  }
  const part = Effect.fnUntraced(function* (next: Extract<Command, { _tag: "Part" }>) {
    const to = begun[next.upload % begun.length]
    if (to === undefined) return "no upload"
    const content = streamed(bytes(next.size, next.seed), 30_000)
    const written = yield* store.writePart(to.key, to.name, next.number, content)
    to.parts.set(next.number, { number: next.number, ...written })
    return `${written.size} ${compareDigest(`part ${next.size} ${next.size === 0 ? "" : next.seed}`, written.digest)}`
  })
  const join = Effect.fnUntraced(function* (next: Extract<Command, { _tag: "Join" }>) {
    const from = begun[next.upload % begun.length]
    if (from === undefined) return "no upload"
    const wanted = next.numbers.filter((n) => next.bold || from.parts.has(n))
    const known = wanted.map((n) => from.parts.get(n) ?? { number: n, size: 1, digest: "none" })
    const chosen = next.stale ? known.map((one) => ({ ...one, digest: `${one.digest}0` })) : known
    return (yield* store.joinParts(from.key, from.name, chosen)).size
  })
  const run = (next: Command): Effect.Effect<unknown, unknown> => {
    switch (next._tag) {
      case "Put":
        return store.put(next.key, bytes(next.size, next.seed))
      case "Write":
        return Effect.map(store.write(next.key, streamed(bytes(next.size, next.seed), 50_000)), (written) => [
          written.size,
          compareDigest(`${next.size} ${next.size === 0 ? "" : next.seed}`, written.digest)
        ])
      case "Tear":
        return store.write(next.key, failing(bytes(1500)))
      case "Remove":
        return store.remove(next.key)
      case "Begin":
        return Effect.map(store.beginParts(next.key), (name) => begun.push({ key: next.key, name, parts: new Map() }))
      case "Part":
        return part(next)
      case "Drop": {
        const dropped = begun[next.upload % begun.length]
        return dropped === undefined ? Effect.void : store.dropParts(dropped.key, dropped.name)
      }
      case "Join":
        return join(next)
      case "Read":
        return Effect.flatMap(store.get(next.key), ({ length }) => {
          const [start = 0, end = 0] = [next.from, next.to].map((at) => Math.floor((at * length) / 100)).sort(ascending)
          return Effect.map(readAll(store, next.key, { start, end }), fingerprint)
        })
    }
  }
  return {
    /** Runs the command. Returns the store's result, or the tag of its error. */
    apply: (next: Command) => Effect.match(run(next), { onSuccess: (value) => value, onFailure: errorName }),
    /** Contents of each key. */
    contents: Effect.forEach(keys, (one) =>
      Effect.match(Effect.all([store.get(one), readAll(store, one)]), {
        onSuccess: (read) => read.map(fingerprint),
        onFailure: errorName
      })
    )
  }
}

const ascending = (a: number, b: number) => a - b

const errorName = (error: unknown): string =>
  typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : String(error)

/** Returns a short text of the content that can be printed. */
const fingerprint = (content: Uint8Array): string => {
  let sum = 0
  for (const value of content) sum = (Math.imul(sum, 31) + value) | 0
  return `${content.length} bytes, ${sum}`
}
