/** Multipart uploads against a model: random concurrent parts in any order, with completions and aborts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { FileStore } from "../../../src/resources/files/FileStore.ts"
import { partBytesMin } from "../../../src/resources/files/MultipartUpload.ts"
import { Uploads } from "../../../src/resources/files/Uploads.ts"
import { bytes, envOn, isSame, putPart, read, reservedKeys, run } from "./Fixtures.ts"

interface Part {
  readonly _tag: "Part"
  readonly number: number
  readonly size: number
  readonly seed: number
}
type Ending = { readonly _tag: "Complete" | "Abort" }

const part: fc.Arbitrary<Part> = fc.record({
  _tag: fc.constant("Part"),
  number: fc.integer({ min: 1, max: 3 }),
  size: fc.constantFrom(partBytesMin, partBytesMin, partBytesMin + 1, partBytesMin - 1, 10, 0),
  seed: fc.integer({ min: 1, max: 200 })
})
const complete = fc.constant<Ending>({ _tag: "Complete" })
const abort = fc.constant<Ending>({ _tag: "Abort" })

/** Sequential steps, each with concurrent commands. */
const history = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.array(part, { minLength: 1, maxLength: 3 }) },
    { weight: 2, arbitrary: fc.array(fc.oneof(part, complete), { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(fc.oneof(part, complete, abort), { minLength: 1, maxLength: 3 }) }
  ),
  { minLength: 1, maxLength: 8 }
)

/** Possible parts by number. Of concurrent parts with one number, the last wins, and the order is unknown. */
type Model = Map<number, ReadonlyArray<Part>>

/** Returns true if the model allows a completion, false if not, and undefined if that depends on the order. */
const isWhole = (model: Model): boolean | undefined => {
  const numbers = [...model.keys()].sort((a, b) => a - b)
  if (numbers.length === 0 || numbers.some((number, index) => number !== index + 1)) return false
  const verdicts = numbers
    .slice(0, -1)
    .flatMap((number) => (model.get(number) ?? []).map((one) => one.size >= partBytesMin))
  if (verdicts.every((isLong) => isLong)) return true
  return [...model.values()].some((ways) => ways.length > 1) ? undefined : false
}

/** True if the bytes are a concatenation of one possible part per number. */
const isJoined = (all: Uint8Array, ways: ReadonlyArray<ReadonlyArray<Part>>): boolean => {
  const [first, ...rest] = ways
  if (first === undefined) return all.length === 0
  return first.some(
    ({ size, seed }) => isSame(all.subarray(0, size), bytes(size, seed)) && isJoined(all.subarray(size), rest)
  )
}

const inOrder = (model: Model) => [...model].sort(([a], [b]) => a - b).map(([, ways]) => ways)

const follow = Effect.fnUntraced(function* (steps: ReadonlyArray<ReadonlyArray<Part | Ending>>) {
  const { host, env_id, org_id } = yield* envOn("Self-Host")
  const { upload_id } = yield* host(Uploads.use((uploads) => uploads.initiate({ path: "a" })))
  const model: Model = new Map()
  let end: "open" | "complete" | "aborted" = "open"

  const give = (command: Part | Ending) => {
    if (command._tag === "Part") return putPart(upload_id, command.number, bytes(command.size, command.seed))
    return command._tag === "Abort"
      ? Uploads.use((uploads) => uploads.abort(upload_id))
      : Uploads.use((uploads) => uploads.complete(upload_id))
  }

  for (const step of steps) {
    const given = step.map((command) =>
      Effect.map(host(Effect.result(give(command))), (result) => ({ command, result }))
    )
    const results = yield* Effect.all(given, { concurrency: "unbounded" })
    const succeeded = results.filter(({ result }) => result._tag === "Success").map(({ command }) => command)
    const sent = succeeded.filter((command) => command._tag === "Part")
    const endings = succeeded.filter((command) => command._tag !== "Part")
    for (const number of new Set(sent.map((one) => one.number))) {
      model.set(
        number,
        sent.filter((one) => one.number === number)
      )
    }
    for (const { command, result } of results) {
      if (result._tag === "Success") {
        assert.strictEqual(end, "open")
      } else if (end !== "open" || endings.length > 0) {
        assert.include(["NotFound", "BadRequest"], result.failure._tag)
      } else {
        assert.strictEqual(command._tag, "Complete")
        assert.strictEqual(result.failure._tag, "BadRequest")
        if (step.length === 1) assert.notStrictEqual(isWhole(model), true)
      }
    }
    assert.isAtMost(endings.length, 1)
    if (step.length === 1 && endings[0]?._tag === "Complete") assert.notStrictEqual(isWhole(model), false)
    if (endings[0] !== undefined) end = endings[0]._tag === "Abort" ? "aborted" : "complete"
  }

  const store = yield* FileStore
  const used = yield* store.storageBytes(org_id)
  if (end === "complete") {
    const { file_id, size } = yield* store.find(env_id, "a")
    assert.isTrue(isJoined(yield* host(read(file_id)), inOrder(model)))
    assert.strictEqual(used, size)
  }
  if (end === "aborted") assert.strictEqual(used, 0)
  assert.strictEqual((yield* reservedKeys).length, end === "open" ? 1 : 0)
})

describe("parts of an upload", () => {
  it.effect(
    "make the file of their model",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(history, (steps) => Effect.runPromise(run(follow(steps)))),
          { numRuns: 25 }
        )
      ),
    60_000
  )
})
