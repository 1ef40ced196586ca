/** kill -9 in the middle of uploads: every file reads back whole, and no bytes are left that no record names. */
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EnvId, FileStore, layer, MemoryStores, trustedSandbox } from "@weft/core"
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

/** Bytes of a seed, none like those of another. */
const bytesOf = (seed: number, size: number): Buffer => {
  const block = createHash("sha256").update(String(seed)).digest()
  return Buffer.alloc(size, block)
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** What a path may hold: what was acknowledged last, or what was on its way when the server died. */
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
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text}`)
  return text === "" ? null : JSON.parse(text)
}

const storeSimply = (server: ServerProcess, path: string, bytes: Buffer) =>
  send(server, "PUT", `/v1/files/upload/${path}`, bytes)

/** Two parts at once, of which the first is long enough. */
const storeInParts = async (server: ServerProcess, path: string, bytes: Buffer): Promise<void> => {
  const begun = await send(server, "POST", "/v1/files/uploads", JSON.stringify({ path, expected_size: bytes.length }))
  const base = `/v1/files/uploads/${Upload.parse(begun).data.upload_id}`
  await Promise.all([
    send(server, "PUT", `${base}/1`, bytes.subarray(0, 5 * MiB)),
    send(server, "PUT", `${base}/2`, bytes.subarray(5 * MiB))
  ])
  await send(server, "POST", `${base}/complete`)
}

/** Stores at a few paths, again and again, until the server is gone. */
const storeUntilDeath = async (server: ServerProcess, expected: Expected, life: number): Promise<void> => {
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
        // Only a connection that breaks ends the writer: an answer that is an error fails the test.
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
    // It is known now which of them it is.
    expected.set(path, new Set([hashOf(bytes)]))
  }
  expect([...found.keys()].every((path) => expected.has(path))).toBe(true)
}

/** The paths of everything in a folder that is no folder itself, from there. */
const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))

const shiftMs = 25 * 60 * 60 * 1000

/** The clock of tomorrow, when every note and every upload of today has expired. */
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

/** What is in the folder of blobs besides the bytes of these keys, and which of them have none. */
const untidy = (keys: ReadonlyArray<string>): ReadonlyArray<string> => {
  const blobs = join(dataDir, "blobs")
  const content = filesIn(join(blobs, "content"))
  // Under the key of a file that was joined is a link to a folder of its parts, which lies beside it.
  const isUnder = (key: string) => (path: string) => path === key || path.startsWith(`${key}/`)
  const isNamed = (path: string) => keys.some((key) => isUnder(key)(path) || isUnder(`${key}~`)(path))
  return [
    ...content.filter((path) => !isNamed(path)),
    ...keys.filter((key) => !content.some(isUnder(key))).map((key) => `${key} is gone`),
    ...["parts", "drafts"].flatMap((folder) => filesIn(join(blobs, folder)).map((path) => `${folder}/${path}`))
  ]
}

/** Opens the data in this process, tomorrow: its janitor removes what nothing names. Gives what it left for too long. */
const sweep = (envId: EnvId) =>
  Effect.gen(function* () {
    const { items } = yield* FileStore.use((store) => store.list(envId, { limit: 100, offset: 0 }, {}))
    const keys = items.map((file) => file.storage_path)
    for (let tries = 0; tries < 100 && untidy(keys).length > 0; tries++) yield* Effect.sleep(100)
    return untidy(keys)
  }).pipe(
    Effect.provide(
      layer({ masterKeys: [Redacted.make(new Uint8Array(32))] }).pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            Sqlite.stores({ file: join(dataDir, "weft.db") }),
            Filesystem.blobs({ dir: join(dataDir, "blobs") }),
            MemoryStores.feed,
            trustedSandbox({})
          )
        )
      )
    ),
    Effect.provideServiceEffect(Clock.Clock, tomorrow)
  )

/** Each takes a start of the server. */
const lives = Number(process.env.WEFT_TEST_LIVES ?? 5)

describe("kill -9 in the middle of uploads", () => {
  it(`leaves every file whole and no other bytes, ${lives} times in a row`, { timeout: 240_000 }, async () => {
    const expected: Expected = new Map()
    let server = await startServer(dataDir)
    const envId = EnvRecord.parse(await send(server, "GET", "/v1/env")).data.env_id
    for (let life = 0; life < lives; life++) {
      const storing = storeUntilDeath(server, expected, life)
      await new Promise((resolve) => setTimeout(resolve, 150 + ((life * 377) % 900)))
      await server.kill()
      await storing
      server = await startServer(dataDir)
      await checkContents(server, expected)
    }
    expect(await server.stop()).toBe(0)
    const filesBefore = filesIn(join(dataDir, "blobs")).length
    expect(await Effect.runPromise(sweep(EnvId.make(envId)))).toEqual([])
    // There was something to sweep, or this test would show nothing.
    expect(filesIn(join(dataDir, "blobs")).length).toBeLessThan(filesBefore)

    server = await startServer(dataDir)
    await checkContents(server, expected)
    expect(await server.stop()).toBe(0)
  })
})
