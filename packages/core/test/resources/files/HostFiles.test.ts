/** Files in the promise API of a host without Effect. */
import { start, type WeftInstance } from "@weft/core"
import { MemoryStores, trustedSandbox } from "@weft/core/testing"
import { Redacted } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { bytes, isSame } from "./Fixtures.ts"

let weft: WeftInstance
beforeAll(async () => {
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: trustedSandbox({}),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))]
  })
})
afterAll(() => weft.close())

const filesOf = async (slug: string) => {
  await weft.orgs.create({ slug, plan: "Free" })
  const env = await weft.envs.create(slug, { name: "production" })
  return weft.env(env.env_id).files
}

const gathered = async (pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const all: Array<number> = []
  for await (const piece of pieces) all.push(...piece)
  return Uint8Array.from(all)
}

async function* pieces(...all: ReadonlyArray<Uint8Array | Error>) {
  for (const piece of all) {
    if (piece instanceof Error) throw piece
    yield piece
  }
}

describe("files of a host", () => {
  it("are returned as they were stored, from bytes and from pieces", async () => {
    const files = await filesOf("stored")
    const one = await files.upload("a/one", bytes(1000), { content_type: "text/plain" })
    const two = await files.upload("a/two", pieces(bytes(10), bytes(20, 2)))
    assert.deepStrictEqual([one.content_type, two.content_type], ["text/plain", "application/octet-stream"])
    assert.isTrue(isSame(await gathered(files.download(one.file_id)), bytes(1000)))
    assert.strictEqual((await gathered(files.download(two.file_id))).length, 30)
    assert.deepStrictEqual(await files.get(two.file_id), two)
    assert.deepStrictEqual(await files.list(), { items: [one, two], total: 2 })
    assert.deepStrictEqual(await files.list({ limit: 1, offset: 0 }, "a/t"), { items: [two], total: 1 })
    await files.remove(one.file_id)
    assert.strictEqual((await files.list()).total, 1)
  })

  it("reject with the reason, and store nothing", async () => {
    const files = await filesOf("refused")
    const rejection = async (promise: Promise<unknown>) =>
      promise.then(
        () => null,
        (error: unknown) => error
      )
    const torn = new Error("torn")
    assert.strictEqual(await rejection(files.upload("a", pieces(bytes(10), torn))), torn)
    assert.propertyVal(await rejection(files.upload("../a", bytes(1))), "code", "bad_request")
    assert.propertyVal(await rejection(files.upload("a", bytes(101 * 1024 ** 2))), "code", "plan_required")
    assert.propertyVal(await rejection(files.get("nothing")), "code", "not_found")
    assert.propertyVal(await rejection(gathered(files.download("nothing"))), "code", "not_found")
    assert.strictEqual((await files.list()).total, 0)
  })
})
