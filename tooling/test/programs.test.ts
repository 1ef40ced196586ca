/** The program cache: a build is reused until one of its inputs changes. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, beforeEach, describe, it } from "vitest"
import { commandLine } from "../src/programs/CommandLine.ts"
import { changedSince, freshRecord, stampsOf, writeRecord } from "../src/programs/Freshness.ts"
import { referenceServer } from "../src/programs/ReferenceServer.ts"

const root = mkdtempSync(join(tmpdir(), "weft-programs-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const file = join(root, "record.json")
const inputs = ["a.ts", "b.ts"]

const keep = (): void =>
  writeRecord(file, { place: join(root, "built"), terms: "terms", inputs, stamps: stampsOf(root, inputs) })

beforeEach(() => {
  mkdirSync(join(root, "built"), { recursive: true })
  for (const input of inputs) writeFileSync(join(root, input), "export {}\n")
  keep()
})

describe("The record of a build", () => {
  it("is fresh until a source changes", () => {
    assert.strictEqual(freshRecord(root, file, "terms")?.place, join(root, "built"))
    utimesSync(join(root, "b.ts"), new Date(), new Date(Date.now() + 1000))
    assert.isUndefined(freshRecord(root, file, "terms"))
    keep()
    writeFileSync(join(root, "a.ts"), "export const a = 1\n")
    assert.isUndefined(freshRecord(root, file, "terms"))
  })

  it("is stale if a source or the build was deleted", () => {
    rmSync(join(root, "built"), { recursive: true })
    assert.isUndefined(freshRecord(root, file, "terms"))
    mkdirSync(join(root, "built"))
    assert.isDefined(freshRecord(root, file, "terms"))
    rmSync(join(root, "a.ts"))
    assert.isUndefined(freshRecord(root, file, "terms"))
  })

  it("is stale if the versions differ or the file cannot be parsed", () => {
    assert.isUndefined(freshRecord(root, file, "others"))
    writeFileSync(file, "{")
    assert.isUndefined(freshRecord(root, file, "terms"))
  })

  it("is not written if a source changed during the build", () => {
    utimesSync(join(root, "a.ts"), new Date(5000), new Date(5000))
    utimesSync(join(root, "b.ts"), new Date(5000), new Date(5000))
    assert.isFalse(changedSince(root, inputs, 6000))
    utimesSync(join(root, "b.ts"), new Date(7000), new Date(7000))
    assert.isTrue(changedSince(root, inputs, 6000))
  })
})

describe("The bundled reference server", () => {
  it("contains its threads and runners, with valid syntax", { timeout: 120_000 }, async () => {
    const main = await referenceServer()
    for (const program of ["main", "JournalWorker", "SchemaWorker", "runner/main"]) {
      execFileSync(process.execPath, ["--check", join(dirname(main), `${program}.mjs`)])
    }
    assert.isTrue(existsSync(join(dirname(main), "guest/main.mjs")))
    // If the sources changed in the meantime, this is another complete build.
    assert.isTrue(existsSync(await referenceServer()))
  })
})

describe("The bundled CLI", () => {
  it("prints its version", { timeout: 120_000 }, async () => {
    const output = execFileSync(process.execPath, [await commandLine(), "--version"], { encoding: "utf8" })
    assert.match(output, /^weft v\d+\.\d+\.\d+\n$/)
  })
})
