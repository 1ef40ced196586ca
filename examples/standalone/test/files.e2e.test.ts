/** kill -9 during uploads: each file can be read in full, and no bytes remain without a record. */
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EnvId, layer } from "@weft/core"
import { FileStore } from "@weft/core/adapter"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import * as Sqlite from "@weft/sqlite"
import { Clock, Effect, Layer, Redacted } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { apiKey, type ServerProcess, startServer } from "./ServerProcess.ts"

const dataDir = mkdtempSync(join(tmpdir(), "weft-files-"))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const File = z.object({ file_id: z.string(), path: z.string(), size: z.number() })
const Files = z.object({ data: z.array(File), meta: z.object({ total: z.number() }) })
const Upload = z.object({ data: z.object({ upload_id: z.string() }) })
const EnvRecord = z.object({ data: z.object({ env_id: z.string() }) })

const MiB = 1024 ** 2

/** Returns bytes that are unique to the seed. */
const bytesOf = (seed: number, size: number): Buffer => {
  const block = createHash("sha256").update(String(seed)).digest()
  return Buffer.alloc(size, block)
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** Hashes that a path may have: the last acknowledged content, or that of an upload in flight when the server died. */
type Expected = Map<string, ReadonlySet<string>>

const absent = "absent"

const send = async (server: ServerProcess, method: string, path: string, body?: Buffer | string): Promise<unknown> => {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(typeof body === "string" ? { "content-type": "application/json" } : {})
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : new Uint8Array(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

const storeSimply = (server: ServerProcess, path: string, bytes: Buffer) =>
  send(server, "PUT", `/v1/files/upload/${path}`, bytes)

/** Uploads two parts concurrently. The first has the minimum part size. */
const storeInParts = async (server: ServerProcess, path: string, bytes: Buffer): Promise<void> => {
  const begun = await send(server, "POST", "/v1/files/uploads", JSON.stringify({ path, expected_size: bytes.length }))
  const base = `/v1/files/uploads/${Upload.parse(begun).data.upload_id}`
  await Promise.all([
    send(server, "PUT", `${base}/1`, bytes.subarray(0, 5 * MiB)),
    send(server, "PUT", `${base}/2`, bytes.subarray(5 * MiB))
  ])
  await send(server, "POST", `${base}/complete`)
}

/** Repeatedly stores at a few paths until the server dies. */
const storeUntilKilled = async (server: ServerProcess, expected: Expected, life: number): Promise<void> => {
  const writer = async (index: number): Promise<void> => {
    for (let n = 0; ; n++) {
      const path = `writer-${index}/${n % 3}`
      const seed = life * 1_000_000 + index * 10_000 + n
      const inParts = index % 2 === 0
      const bytes = bytesOf(seed, inParts ? 5 * MiB + 1 + (seed % MiB) : (seed * 7919) % (2 * MiB))
      const before = expected.get(path) ?? new Set([absent])
      expected.set(path, new Set([...before, hashOf(bytes)]))
      try {
        await (inParts ? storeInParts : storeSimply)(server, path, bytes)
      } catch (error) {
        // Only a broken connection ends the writer. An error response fails the test.
        if (error instanceof TypeError) return
        throw error
      }
      expected.set(path, new Set([hashOf(bytes)]))
    }
  }
  await Promise.all([0, 1, 2, 3].map(writer))
}

const checkContents = async (server: ServerProcess, expected: Expected): Promise<void> => {
  const { data, meta } = Files.parse(await send(server, "GET", "/v1/files?limit=100"))
  expect(data).toHaveLength(meta.total)
  const found = new Map(data.map((file) => [file.path, file]))
  for (const [path, allowed] of expected) {
    const file = found.get(path)
    if (file === undefined) {
      expect(allowed).toContain(absent)
      continue
    }
    const response = await fetch(`${server.url}/v1/files/${file.file_id}/download`, {
      headers: { authorization: `Bearer ${apiKey}` }
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(bytes).toHaveLength(file.size)
    expect([...allowed]).toContain(hashOf(bytes))
    // From now on only this content is expected.
    expected.set(path, new Set([hashOf(bytes)]))
  }
  expect([...found.keys()].every((path) => expected.has(path))).toBe(true)
}

/** Lists all files below a folder, as relative paths. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

const shiftMs = 25 * 60 * 60 * 1000

/** A clock that is 25 hours ahead: all reservations and uploads of today have expired. */
const tomorrow = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  const millis = () => clock.currentTimeMillisUnsafe() + shiftMs
  const nanos = () => clock.currentTimeNanosUnsafe() + BigInt(shiftMs) * 1_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
})

/** Lists files in the blob folder that belong to none of these keys, and keys without bytes. */
const findMismatches = (keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  const blobs = join(dataDir, "blobs")
  const content = filesIn(join(blobs, "content"))
  // The key of a joined file is a link to a folder of its parts, next to it, with `~` in its name.
  const isUnder = (key: string) => (path: string) => path === key || path.startsWith(`${key}/`)
  const isNamed = (path: string) => keys.some((key) => isUnder(key)(path) || isUnder(`${key}~`)(path))
  return [
    ...content.filter((path) => !isNamed(path)),
    ...keys.filter((key) => !content.some(isUnder(key))).map((key) => `${key} is gone`),
    ...["parts", "drafts"].flatMap((folder) => filesIn(join(blobs, folder)).map((path) => `${folder}/${path}`))
  ]
}

/** Opens the data in this process with the clock of tomorrow. Its janitor deletes orphans. Returns the remaining mismatches. */
const sweep = (envId: EnvId) =>
  Effect.gen(function* () {
    const { items } = yield* FileStore.use((store) => store.list(envId, { limit: 100, offset: 0 }, {}))
    const keys = items.map((file) => file.storage_path)
    for (let tries = 0; tries < 100 && findMismatches(keys).length > 0; tries++) yield* Effect.sleep(100)
    return findMismatches(keys)
  }).pipe(
    Effect.provide(
      layer({ masterKeys: [Redacted.make(new Uint8Array(32))] }).pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            Sqlite.database({ file: join(dataDir, "weft.db") }),
            Filesystem.blobs({ dir: join(dataDir, "blobs") }),
            MemoryStores.cluster,
            trustedSandbox({})
          )
        )
      )
    ),
    Effect.provideServiceEffect(Clock.Clock, tomorrow)
  )

/** Number of kills. Each needs a start of the server. */
const lives = Number(process.env.WEFT_TEST_LIVES ?? 5)

describe("kill -9 during uploads", () => {
  it(`leaves only complete files, ${lives} times in a row`, { timeout: 240_000 }, async () => {
    const expected: Expected = new Map()
    let server = await startServer(dataDir)
    const envId = EnvRecord.parse(await send(server, "GET", "/v1/env")).data.env_id
    for (let life = 0; life < lives; life++) {
      const storing = storeUntilKilled(server, expected, life)
      await new Promise((resolve) => setTimeout(resolve, 150 + ((life * 377) % 900)))
      await server.kill()
      await storing
      server = await startServer(dataDir)
      await checkContents(server, expected)
    }
    expect(await server.stop()).toBe(0)
    const filesBefore = filesIn(join(dataDir, "blobs")).length
    expect(await Effect.runPromise(sweep(EnvId.make(envId)))).toEqual([])
    // The test is meaningful only if there were orphans.
    expect(filesIn(join(dataDir, "blobs")).length).toBeLessThan(filesBefore)

    server = await startServer(dataDir)
    await checkContents(server, expected)
    expect(await server.stop()).toBe(0)
  })
})
