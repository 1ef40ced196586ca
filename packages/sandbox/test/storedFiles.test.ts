/** Files of stored zips. */
import { assert, it } from "@effect/vitest"
import { BuildId, type StoredZip } from "@weft/core/adapter"
import { Effect, Stream } from "effect"
import { StoredFiles } from "../src/bundle/StoredFiles.ts"
import { makeId } from "./Tenant.ts"
import { zipEntries } from "./zip.ts"

const storedAt = (path: string, content: string): StoredZip => {
  const zip = zipEntries([{ name: "a.txt", content }])
  return {
    build_id: BuildId.make(makeId(1)),
    path,
    size: zip.length,
    read: ({ start, end }) => Effect.succeed(Stream.make(zip.subarray(start, end)))
  }
}

const textOf = (files: StoredFiles, stored: StoredZip) =>
  Effect.gen(function* () {
    const file = yield* files.open(stored, "a.txt")
    return file === null ? null : yield* Stream.mkString(Stream.decodeText(file.bytes))
  })

it.effect("stored files belong to the requested zip, even if another zip had its id before", () =>
  Effect.gen(function* () {
    const files = new StoredFiles()
    assert.strictEqual(yield* textOf(files, storedAt("builds/one", "of a tenant")), "of a tenant")
    assert.strictEqual(yield* textOf(files, storedAt("builds/two", "of another one")), "of another one")
  })
)
