/** Damaged bytes of files and builds over HTTP, changed on disk behind the server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { start } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import * as Filesystem from "@weft/filesystem"
import { Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { modules } from "./server/functions.ts"
import { TestServer } from "./server/TestServer.ts"

const dir = mkdtempSync(join(tmpdir(), "weft-damage-"))
let server: TestServer

beforeAll(async () => {
  const weft = start({
    database: MemoryStores.database,
    blobs: Filesystem.blobs({ dir }),
    sandbox: trustedSandbox(modules),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))]
  })
  server = await TestServer.start({}, null, weft)
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Returns the paths of all blobs below the folder. */
const blobs = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(dir, "content", folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const damage = (path: string): void => {
  const bytes = readFileSync(path)
  bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

const upload = async (path: string, size: number): Promise<{ readonly file_id: string; readonly etag: string }> => {
  const response = await fetch(`${server.listening.url}/v1/files/upload/${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${server.token}` },
    body: new Uint8Array(size).fill(7)
  })
  const { data } = JSON.parse(await response.text())
  return data
}

const download = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.listening.url}${path}`, { headers: { authorization: `Bearer ${server.token}`, ...headers } })

describe("a damaged file", () => {
  it("is answered with an error instead of its bytes if it is small", async () => {
    const { file_id } = await upload("small", 5_000)
    for (const path of blobs("files")) damage(path)
    const reply = await server.call("GET", `/v1/files/${file_id}/download`)
    assert.deepStrictEqual([reply.status, reply.json.error.code], [500, "internal_server_error"])
    assert.include(reply.json.error.message, "The stored bytes of this file are damaged")
    assert.isNull(reply.headers.get("etag"))
    const [entry] = (await server.call("GET", "/v1/audit?action=file.damage")).json.data
    assert.deepInclude(entry, { object_id: file_id, object_name: "small", outcome: "done" })
  })

  it("breaks the transfer if it is large", async () => {
    const known = new Set(blobs("files"))
    const size = 3_000_000
    const { file_id } = await upload("large", size)
    const intact = await (await download(`/v1/files/${file_id}/download`)).arrayBuffer()
    assert.strictEqual(intact.byteLength, size)
    for (const path of blobs("files")) if (!known.has(path)) damage(path)
    const response = await download(`/v1/files/${file_id}/download`)
    assert.strictEqual(response.headers.get("content-length"), String(size))
    const failed = await response.arrayBuffer().then(
      () => false,
      () => true
    )
    assert.isTrue(failed)
    const range = await download(`/v1/files/${file_id}/download`, { range: "bytes=0-9" })
    assert.deepStrictEqual([range.status, (await range.arrayBuffer()).byteLength], [206, 10])
  })
})

describe("a damaged build", () => {
  it("is neither deployed nor downloaded", async () => {
    await server.call("POST", "/v1/projects", { json: { name: "shop" } })
    const { build_id } = (await server.upload("shop", "shop")).json.data
    for (const path of blobs("builds")) damage(path)
    const deployed = await server.call("POST", `/v1/projects/shop/builds/${build_id}/deploy`)
    assert.deepStrictEqual([deployed.status, deployed.json.error.code], [500, "internal_server_error"])
    const response = await download(`/v1/projects/shop/builds/${build_id}/download`)
      .then(
        (each) => each.arrayBuffer(),
        () => null
      )
      .catch(() => null)
    assert.isNull(response)
    const [entry] = (await server.call("GET", "/v1/audit?action=build.damage")).json.data
    assert.deepInclude(entry, { object_id: build_id, object_name: "shop" })
  })
})
