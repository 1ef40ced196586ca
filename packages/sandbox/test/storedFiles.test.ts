/** Files of zips where they are stored. */
import { assert, it } from "@effect/vitest"
import { BuildId, type StoredZip } from "@weft/core"
import { Effect, Stream } from "effect"
import { StoredFiles } from "../src/bundle/StoredFiles.ts"
import { idOf } from "./Tenant.ts"
import { zipEntries } from "./zip.ts"

const storedAt = (path: string, content: string): StoredZip => {
  const zip = zipEntries([{ name: "a.txt", content }])
  return {
    build_id: BuildId.make(idOf(1)),
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

it.effect("are those of the zip that is asked for, also where another one had its id before", () =>
  Effect.gen(function* () {
    const files = new StoredFiles()
    assert.strictEqual(yield* textOf(files, storedAt("builds/one", "of a tenant")), "of a tenant")
    assert.strictEqual(yield* textOf(files, storedAt("builds/two", "of another one")), "of another one")
  })
)
