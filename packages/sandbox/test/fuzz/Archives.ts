/** Zips of builds as uploaded: read at the upload, and again from the store. */
import { BuildId, BundleRejected, defaultLimits } from "@weft/core/adapter"
import { type Draws, type Target, utf8 } from "@weft/tooling/fuzz"
import { Effect, Stream } from "effect"
import { assert } from "vitest"
import { checkArchive, readBundle } from "../../src/bundle/Archive.ts"
import { StoredFiles } from "../../src/bundle/StoredFiles.ts"
import { makeId } from "../Tenant.ts"
import { type ZipEntry, zipEntries } from "../zip.ts"
import { readZip } from "./ZipModel.ts"

const limits = { ...defaultLimits, archiveBytes: 1 << 20, unpackedBytes: 1 << 20, archiveEntries: 20 }
const names = [
  "index.js",
  "index.js.map",
  "a.txt",
  "a/b.txt",
  "a/",
  "../x",
  "/x",
  "a\\b",
  "C:/x",
  "./a",
  "a/./b",
  "",
  "é",
  "\u0000",
  "__proto__",
  "a//b",
  "x".repeat(300)
]
const contents: ReadonlyArray<string | Uint8Array> = [
  "",
  "export const go = () => 1",
  "{}",
  Buffer.from([0xff, 0xfe]),
  "a".repeat(20_000),
  "PK\u0005\u0006",
  "PK\u0001\u0002"
]

const entryOf = (draws: Draws): ZipEntry => {
  const entry = { name: draws.one(names), content: draws.one(contents) }
  if (draws.chance(0.85)) return entry
  return {
    ...entry,
    mode: draws.one([0o100644, 0o120777, 0o40755, 0]),
    flags: draws.one([0, 1, 8, 0x40, 0xffff]),
    method: draws.one([0, 8, 8, 9, 99]),
    ...(draws.chance(0.5) ? { claimedSize: draws.one([0, 1, 0xffffffff, 25, 26]) } : {})
  }
}

const bomb = (draws: Draws): ReadonlyArray<ZipEntry> =>
  draws.some(() => ({ name: `f${draws.whole(0, 1e6)}`, content: Buffer.alloc(1 << 18) }), 8, 3)

const signatures = ["PK\u0003\u0004", "PK\u0001\u0002", "PK\u0005\u0006"]

/** Changes a field of one of the headers. */
const spoiled = (input: Uint8Array, draws: Draws): Uint8Array | null => {
  const zip = Buffer.from(input)
  const at = zip.indexOf(draws.one(signatures), draws.whole(0, zip.length))
  if (at === -1 || at + 46 > zip.length) return null
  const field = at + draws.whole(4, 45)
  if (draws.chance(0.5)) zip.writeUInt16LE(draws.one([0, 1, 8, 0xffff, 0x800, draws.whole(0, 300)]), field - 1)
  else zip.writeUInt32LE(draws.one([0, 1, 0xffffffff, at, zip.length, draws.whole(0, zip.length)]), field - 3)
  return zip
}

const signal = new AbortController().signal

/** True if the work succeeds; asserts that it fails only with `BundleRejected`. */
const isAccepted = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work
    return true
  } catch (error) {
    assert.instanceOf(error, BundleRejected)
    return false
  }
}

let stored = 0

/** Reads the bytes of a stored file in chunks. */
const storedFile = (files: StoredFiles, zip: Buffer, name: string): Promise<Buffer | null> => {
  const build_id = BuildId.make(makeId(stored))
  const read = ({ start, end }: { readonly start: number; readonly end: number }) =>
    Effect.succeed(
      Stream.fromIterable([
        zip.subarray(start, Math.min(end, start + 100)),
        zip.subarray(Math.min(end, start + 100), end)
      ])
    )
  const bytes = Effect.flatMap(files.open({ build_id, path: build_id, size: zip.length, read }, name), (file) =>
    file === null
      ? Effect.succeed(null)
      : Effect.map(Stream.runCollect(file.bytes), (chunks) => Buffer.concat([...chunks]))
  )
  return Effect.runPromise(bytes)
}

export const archives: Target = {
  name: "archives",
  generate: (draws) => {
    const more = draws.chance(0.05) ? bomb(draws) : draws.some(() => entryOf(draws), 4)
    const index = draws.chance(0.9) ? [{ name: "index.js", content: "export const go = () => 1" }] : []
    return zipEntries([...index, ...more.filter(({ name }) => name !== "index.js" || draws.chance(0.1))])
  },
  words: [...signatures, "PK\u0006\u0006", "PK\u0006\u0007", "PK\u0007\u0008", "index.js", "../", "\\"],
  mutate: spoiled,
  covers: /yauzl/,
  run: async (input) => {
    const zip = Buffer.from(input)
    const accepted = await isAccepted(checkArchive(zip, limits, signal))
    const bundle = await readBundle(zip, limits, signal).catch(
      (error: unknown) => void assert.instanceOf(error, BundleRejected)
    )
    // Only a read detects text that is not UTF-8.
    if (bundle !== undefined) assert.isTrue(accepted, "a rejected zip was read")
    if (!accepted) return "refused"
    const model = readZip(zip)
    if (model === null) return "taken"
    const inner = model.filter(({ name }) => !name.endsWith("/"))
    assert.isAtMost(
      inner.reduce((sum, { bytes }) => sum + bytes.length, 0),
      limits.unpackedBytes
    )
    for (const { name, isWhole } of inner) assert.isTrue(isWhole, `${name} is damaged`)
    const index = inner.find(({ name }) => name === "index.js")
    if (bundle !== undefined)
      assert.isTrue(index?.bytes.equals(utf8(bundle.script)) === true || index?.bytes[0] === 0xef)
    const files = new StoredFiles()
    stored++
    for (const { name, bytes } of inner)
      assert.isTrue((await storedFile(files, zip, name))?.equals(bytes), `${name} differs in the store`)
    return "taken"
  }
}
