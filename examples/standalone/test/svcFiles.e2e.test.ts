/** Files of functions, with a real sandbox and HTTP server. */

import { createHash } from "node:crypto"
import { firstPage, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import * as Http from "@weft/http"
import { sandbox } from "@weft/sandbox"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const source = `
const MiB = 1024 * 1024
const on = (event, fn, timeout) => Object.assign(fn, { meta: { event, ...(timeout ? { timeout } : {}) } })
const told = async (work) => { try { return await work() } catch (error) { return [error.name, error.message] } }
const unit = Uint8Array.from({ length: 251 }, (_, at) => at)
const pattern = (length) => {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += 251) bytes.set(unit.subarray(0, Math.min(251, length - at)), at)
  return bytes
}
const isPattern = (bytes) => {
  for (let at = 0; at < bytes.length; at += 997) if (bytes[at] !== at % 251) return false
  return true
}
const streamOf = (parts) => new ReadableStream({
  async start(controller) {
    for (const part of parts) {
      controller.enqueue(typeof part === "string" ? new TextEncoder().encode(part) : part)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    controller.close()
  }
})

export const kinds = on("kinds", async (event, svc) => {
  const put = async (name, data, options) => {
    const { path, size, content_type } = await svc.files.put("kinds/" + name, data, options)
    return [path, size, content_type, await (await svc.files.get(path)).text()]
  }
  return [
    await put("text", "héllo 💡"),
    await put("bytes", new Uint8Array([104, 105])),
    await put("buffer", new TextEncoder().encode("buffer").buffer),
    await put("view", new DataView(new TextEncoder().encode("[view]").buffer, 1, 4)),
    await put("blob", new Blob(["blob"], { type: "text/csv" })),
    await put("stream", streamOf(["st", "", "ream"]), { content_type: "text/x" }),
    await put("empty", ""),
    await put("none", streamOf([]))
  ]
})
export const reads = on("reads", async (event, svc) => {
  const file = await svc.files.put("reads/a.json", JSON.stringify({ a: [1] }), { content_type: "application/json" })
  const found = await svc.files.get("reads/a.json")
  const { size, content_type, etag } = found
  const parts = []
  for await (const chunk of found.stream()) parts.push(...chunk)
  return { same: etag === file.etag, size, content_type, quoted: /^".+"$/.test(etag),
    by: file.created_by_run_id === svc.run.run_id && found.updated_by_run_id === svc.run.run_id,
    json: await found.json(), text: await found.text(), bytes: (await found.bytes()).length, stream: String.fromCharCode(...parts),
    missing: await svc.files.get("reads/none"), names: Object.keys(found).sort() }
})
export const large = on("large", async (event, svc) => {
  const file = await svc.files.put("large/whole", pattern(10 * MiB))
  const streamed = await svc.files.put("large/streamed", streamOf([pattern(251 * 8000), pattern(251 * 8000)]))
  const found = await svc.files.get("large/whole")
  const bytes = await found.bytes()
  let counted = 0
  for await (const chunk of (await svc.files.get("large/streamed")).stream()) counted += chunk.length
  const reader = found.stream().getReader()
  await reader.read()
  await reader.cancel()
  return [file.size, bytes.length, isPattern(bytes), streamed.size, counted]
}, "1m")
export const lists = on("lists", async (event, svc) => {
  await Promise.all(Array.from({ length: 120 }, (_, n) => svc.files.put("lists/" + String(n).padStart(3, "0"), "x")))
  const all = await svc.files.list("lists/")
  const page = await svc.files.list("lists/", { limit: 2, offset: 3 })
  const deleted = [await svc.files.delete("lists/000"), await svc.files.delete("lists/000")]
  return [all.length, all[119].path, page.map(({ path }) => path), deleted, (await svc.files.list("lists/")).length, Array.isArray(await svc.files.list())]
})
export const wrong = on("wrong", async (event, svc) => [
  await told(() => svc.files.put("../up", "x")),
  await told(() => svc.files.put("a//b", streamOf(["x"]))),
  await told(() => svc.files.put(7, "x")),
  await told(() => svc.files.put("x", { a: 1 })),
  await told(() => svc.files.put("x", "y", { content_type: "a\\nb" })),
  await told(() => svc.files.put("x", streamOf([7]))),
  await told(() => svc.files.put("x", new ReadableStream({ pull() { throw new RangeError("from the stream") } }))),
  await told(() => svc.files.get("/abs")),
  await told(() => svc.files.url("none")),
  await told(() => svc.files.url("kinds/text", { expires_in: 0 })),
  await told(async () => {
    await svc.files.put("changing", "old")
    const found = await svc.files.get("changing")
    await svc.files.put("changing", "new")
    return found.text()
  }),
  await svc.files.get("x")
])
export const leaves = on("leaves", async (event, svc) => {
  void svc.files.put("leaves/whole", "whole").catch(() => undefined)
  void svc.files.put("leaves/half", new ReadableStream({ start(controller) { controller.enqueue(pattern(MiB)) } })).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 50))
  return "left"
})
export const links = on("links", async (event, svc) => {
  await svc.files.put("links/a.txt", "by a link")
  return [await svc.files.url("links/a.txt"), await svc.files.url("links/a.txt", { expires_in: 1 })]
})
`

let weft: WeftInstance
let env: WeftEnv
let other: WeftEnv
let listening: Http.Listening
let url: string | null = null

beforeAll(async () => {
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1 }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    publicUrl: () => url
  })
  listening = await Http.listen(weft, { port: 0 })
  url = listening.url
  const org = await weft.orgs.create({ slug: "files" })
  env = weft.env((await weft.envs.create(org.org_id, { name: "production" })).env_id)
  other = weft.env((await weft.envs.create(org.org_id, { name: "other" })).env_id)
  await env.projects.create({ name: "keeper" })
  const zip = zipSync({ "index.js": strToU8(source) })
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = await env.builds.upload("keeper", { zip, hash })
  await env.builds.deploy("keeper", build.build_id)
}, 60_000)
afterAll(async () => {
  await listening.close()
  await weft.close()
})

const run = async (type: string): Promise<unknown> => {
  const event = await env.events.publish({ type, data: null })
  for (;;) {
    const [first] = await env.events.runs(event.event_id)
    if (first !== undefined && first.status !== "running") {
      expect(first.status, JSON.stringify(first.result)).toBe("succeeded")
      return first.result
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

describe("svc.files", () => {
  it("stores strings, buffers, blobs and streams, each with its content type", async () => {
    expect(await run("kinds")).toEqual([
      ["kinds/text", 11, "text/plain; charset=utf-8", "héllo 💡"],
      ["kinds/bytes", 2, "application/octet-stream", "hi"],
      ["kinds/buffer", 6, "application/octet-stream", "buffer"],
      ["kinds/view", 4, "application/octet-stream", "view"],
      ["kinds/blob", 4, "text/csv", "blob"],
      ["kinds/stream", 6, "text/x", "stream"],
      ["kinds/empty", 0, "text/plain; charset=utf-8", ""],
      ["kinds/none", 0, "application/octet-stream", ""]
    ])
  })

  it("reads a file in each way, repeatedly, and null for a missing file", async () => {
    expect(await run("reads")).toEqual({
      same: true,
      size: 9,
      content_type: "application/json",
      quoted: true,
      by: true,
      json: { a: [1] },
      text: '{"a":[1]}',
      bytes: 9,
      stream: '{"a":[1]}',
      missing: null,
      names: [
        "content_type",
        "created_at",
        "created_by_run_id",
        "etag",
        "file_id",
        "path",
        "size",
        "updated_at",
        "updated_by_run_id"
      ]
    })
  })

  it("transfers files that are larger than a host call", async () => {
    const MiB = 1024 * 1024
    expect(await run("large")).toEqual([10 * MiB, 10 * MiB, true, 2 * 251 * 8000, 2 * 251 * 8000])
  })

  it("lists files by prefix, all or a page, and deletes files", async () => {
    expect(await run("lists")).toEqual([120, "lists/119", ["lists/003", "lists/004"], [true, false], 119, true])
  })

  it("rejects invalid requests with name and reason, and stores nothing", async () => {
    expect(await run("wrong")).toEqual([
      ["BadRequest", "path must consist of segments that are not empty, . or .."],
      ["BadRequest", "path must consist of segments that are not empty, . or .."],
      ["TypeError", "path must be a string"],
      ["TypeError", "The data of a file must be a string, a buffer, a Blob or a ReadableStream"],
      ["BadRequest", expect.stringContaining("content_type")],
      ["TypeError", "A chunk of the stream is not a Uint8Array"],
      ["RangeError", "from the stream"],
      ["BadRequest", "path must consist of segments that are not empty, . or .."],
      ["NotFound", "There is no such file"],
      ["BadRequest", "expires_in must be a whole number from 1 to 604800"],
      ["NotFound", "The file was replaced since it was looked up"],
      null
    ])
  })

  it("completes an unawaited upload that was sent in full, and discards a partial one", async () => {
    expect(await run("leaves")).toBe("left")
    const { items } = await env.files.list(firstPage, "leaves/")
    expect(items.map(({ path }) => path)).toEqual(["leaves/whole"])
  })

  it("is limited to files of the run's environment", async () => {
    await run("reads")
    expect((await other.files.list()).total).toBe(0)
  })
})

describe("svc.files.url", () => {
  it("returns a link without credential, for this file only, until it expires", async () => {
    const [link = "", short = ""] = (await run("links")) as ReadonlyArray<string>
    const response = await fetch(link)
    expect([response.status, await response.text()]).toEqual([200, "by a link"])
    expect(response.headers.get("content-disposition")).toContain("attachment")
    expect(response.headers.get("x-content-type-options")).toBe("nosniff")
    expect((await fetch(link, { headers: { range: "bytes=3-3" } })).status).toBe(206)

    const changed = (name: string, value: string) => {
      const edited = new URL(link)
      edited.searchParams.set(name, value)
      return edited
    }
    const expires = Number(new URL(link).searchParams.get("expires"))
    const elsewhere = new URL(link)
    elsewhere.pathname = elsewhere.pathname.replace(/[0-9a-f]{12}\/content$/, "000000000000/content")
    for (const wrong of [
      changed("expires", String(expires + 1)),
      changed("expires", ""),
      changed("expires", "Infinity"),
      changed("env_id", "01890000-0000-7000-8000-000000000000"),
      changed("signature", "AAAA"),
      changed("signature", "*"),
      elsewhere
    ]) {
      const refused = await fetch(wrong)
      expect([refused.status, Object(await refused.json()).error.code], wrong.href).toEqual([401, "unauthorized"])
    }
    expect((await fetch(new URL(new URL(link).pathname, link))).status).toBe(401)
    await new Promise((resolve) => setTimeout(resolve, 2100))
    expect((await fetch(short)).status).toBe(401)

    const { items } = await env.files.list(firstPage, "links/")
    for (const { file_id } of items) await env.files.remove(file_id)
    expect((await fetch(link)).status).toBe(404)
  })
})
