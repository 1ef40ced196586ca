/** `fetch` of functions, with a real sandbox, real servers and an egress policy. */

import { createHash } from "node:crypto"
import { createServer, type Server } from "node:http"
import { brotliCompressSync } from "node:zlib"
import { start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { egress } from "@weft/egress"
import { sandbox } from "@weft/sandbox"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const source = `
const MiB = 1024 * 1024
const on = (event, fn, timeout) => Object.assign(fn, { meta: { event, ...(timeout ? { timeout } : {}) } })
const describe = (error) => [error instanceof TypeError, error.name, error.message]

export const json = on("json", async (event) => {
  const response = await fetch(event.event_data + "/json?a=1", { headers: { "x-from": "guest" } })
  const { status, statusText, ok, url, redirected, type } = response
  let frozen = false
  try { response.headers.set("a", "b") } catch (error) { frozen = error instanceof TypeError }
  return { status, statusText, ok, path: new URL(url).pathname, redirected, type, frozen,
    cookies: response.headers.getSetCookie(), body: await response.json(), used: response.bodyUsed, name: fetch.name }
})
export const posts = on("posts", async (event) => {
  const echo = async (init) => (await fetch(event.event_data + "/echo", { method: "POST", ...init })).json()
  const large = new Uint8Array(3 * MiB).fill(97)
  const form = new FormData()
  form.set("field", "value")
  const stream = new ReadableStream({
    async start(controller) {
      for (let part = 0; part < 5; part++) {
        controller.enqueue(new TextEncoder().encode("part" + part))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      controller.close()
    }
  })
  return [
    await echo({ body: "text" }),
    await echo({ body: new URLSearchParams({ a: "1" }) }),
    await echo({ body: large }),
    await echo({ body: stream, duplex: "half" }),
    (await echo({ body: form })).type.startsWith("multipart/form-data"),
    await echo({ body: new Uint8Array() }),
    (await fetch(new Request(event.event_data + "/echo", { method: "PUT", body: "request" })).then((r) => r.json())).text
  ]
})
export const streams = on("streams", async (event) => {
  const response = await fetch(event.event_data + "/slow")
  const seen = []
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) seen.push(chunk)
  const twice = await fetch(event.event_data + "/json")
  const clone = twice.clone()
  const both = [await twice.text(), await clone.text()]
  const compressed = await fetch(event.event_data + "/br")
  return { parts: seen.length > 1, text: seen.join(""), same: both[0] === both[1], br: [await compressed.text(), compressed.headers.get("content-encoding")] }
})
export const empties = on("empties", async (event) => {
  const [none, head] = [await fetch(event.event_data + "/204"), await fetch(event.event_data + "/json", { method: "HEAD" })]
  const odd = await fetch(event.event_data + "/odd")
  const moved = await fetch(event.event_data + "/moved", { redirect: "manual" })
  const followed = await fetch(event.event_data + "/moved")
  return [none.status, none.body, await none.text(), head.status, head.body, odd.status, moved.status, moved.headers.get("location"), followed.redirected, new URL(followed.url).pathname]
})
export const large = on("large", async (event) => {
  const bytes = await (await fetch(event.event_data + "/bytes/" + 20 * MiB)).arrayBuffer()
  const view = new Uint8Array(bytes)
  let same = true
  for (let at = 0; at < view.length; at += 997) same &&= view[at] === at % 251
  return [bytes.byteLength, same]
})
export const tooLarge = on("tooLarge", async (event) => {
  const response = await fetch(event.event_data + "/bytes/" + 21 * MiB)
  try { await response.arrayBuffer() } catch (error) { return describe(error) }
})
export const refused = on("refused", async (event) => {
  const reasons = []
  for (const url of event.event_data) {
    try { reasons.push((await fetch(url)).status) } catch (error) { reasons.push(describe(error)) }
  }
  return reasons
})
export const aborts = on("aborts", async (event) => {
  const outcomes = []
  const attempt = async (run) => { try { outcomes.push(await run()) } catch (error) { outcomes.push(error.name ?? error) } }
  await attempt(() => fetch(event.event_data + "/json", { signal: AbortSignal.abort() }))
  const waiting = new AbortController()
  setTimeout(() => waiting.abort(), 50)
  await attempt(() => fetch(event.event_data + "/hangs", { signal: waiting.signal }))
  await attempt(() => fetch(event.event_data + "/hangs", { signal: AbortSignal.timeout(50) }))
  const reading = new AbortController()
  const response = await fetch(event.event_data + "/drips", { signal: reading.signal })
  const reader = response.body.getReader()
  await reader.read()
  setTimeout(() => reading.abort("enough"), 20)
  await attempt(async () => { for (;;) await reader.read() })
  await attempt(() => fetch(event.event_data + "/echo", { method: "POST", duplex: "half",
    body: new ReadableStream({ pull() { throw new RangeError("from the stream") } }) }))
  return outcomes
})
export const leaves = on("leaves", async (event) => {
  const response = await fetch(event.event_data + "/drips")
  return response.status
})
export const hangs = on("hangs", async (event) => {
  await fetch(event.event_data + "/hangs")
}, "500ms")
export const many = on("many", async (event) => {
  const answers = await Promise.all(Array.from({ length: 150 }, async (_, n) => (await fetch(event.event_data + "/json?n=" + n)).json()))
  return answers.every(({ url }, n) => url === "/json?n=" + n)
})
export const early = (() => { try { return fetch("http://127.0.0.1").catch(describe) } catch (error) { return describe(error) } })()
export const loading = on("loading", async () => { return early })
`

const pattern = Uint8Array.from({ length: 251 }, (_, at) => at)

/** Number of open connections by path, so that tests can observe their release. */
const openByPath = new Map<string, number>()

const server: Server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://localhost")
  const [, kind = "", rest = ""] = pathname.split("/")
  openByPath.set(kind, (openByPath.get(kind) ?? 0) + 1)
  response.on("close", () => openByPath.set(kind, (openByPath.get(kind) ?? 0) - 1))
  if (kind === "json") {
    response.writeHead(200, { "content-type": "application/json", "set-cookie": ["a=1", "b=2"] })
    response.end(JSON.stringify({ url: request.url, from: request.headers["x-from"] ?? null }))
  } else if (kind === "echo") {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks)
      const { "content-type": type = null, "content-length": length = null } = request.headers
      response.end(
        JSON.stringify({ type, length, bytes: body.length, text: body.length < 100 ? body.toString() : null })
      )
    })
  } else if (kind === "slow") {
    let parts = 0
    const timer = setInterval(() => {
      response.write(`part ${parts++};`)
      if (parts < 4) return
      clearInterval(timer)
      response.end()
    }, 30)
  } else if (kind === "drips") {
    const timer = setInterval(() => response.write("drip"), 5)
    response.on("close", () => clearInterval(timer))
  } else if (kind === "bytes") {
    response.end(Buffer.alloc(Number(rest), pattern))
  } else if (kind === "br") {
    response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync("unfolded"))
  } else if (kind === "moved") {
    response.writeHead(302, { location: "/json" }).end()
  } else if (kind === "inwards") {
    response.writeHead(302, { location: "http://10.0.0.1/" }).end()
  } else if (kind !== "hangs") {
    response.writeHead(kind === "odd" ? 799 : 204).end()
  }
})

let weft: WeftInstance
let env: WeftEnv
let url: string

const startWith = async (isOpen: boolean) => {
  const instance = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    // 20 MiB use most of the default limit even on an idle machine.
    sandbox: sandbox({ runners: 1, limits: { cpuSliceMs: 5_000 } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    ...(isOpen ? { egress: egress({ policy: { allow: [url.replace("http://", "")] } }) } : {})
  })
  const org = await instance.orgs.create({ slug: "fetching" })
  const { env_id } = await instance.envs.create(org.org_id, { name: "production" })
  const opened = instance.env(env_id)
  const zip = zipSync({ "index.js": strToU8(source) })
  await opened.projects.create({ name: "fetching" })
  const { build } = await opened.builds.upload("fetching", {
    zip,
    hash: createHash("sha256").update(zip).digest("hex")
  })
  await opened.builds.deploy("fetching", build.build_id)
  return { instance, opened }
}

/** Publishes an event, waits until its run has ended, and returns the run. */
const run = async (type: string, data: string | ReadonlyArray<string> = url, where: WeftEnv = env) => {
  const { event_id } = await where.events.publish({ type, data })
  for (;;) {
    const [ended] = (await where.events.runs(event_id)).filter(({ status }) => status !== "running")
    if (ended !== undefined) return ended
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const resultOf = async (...args: Parameters<typeof run>) => {
  const { status, result } = await run(...args)
  expect([status, result]).toEqual(["succeeded", result])
  return result
}

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const { instance, opened } = await startWith(true)
  weft = instance
  env = opened
})

afterAll(async () => {
  await weft.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe("fetch", () => {
  it("returns the response of the server", async () => {
    expect(await resultOf("json")).toEqual({
      status: 200,
      statusText: "OK",
      ok: true,
      path: "/json",
      redirected: false,
      type: "basic",
      frozen: true,
      cookies: ["a=1", "b=2"],
      body: { url: "/json?a=1", from: "guest" },
      used: true,
      name: "fetch"
    })
  })

  it("sends bodies of every kind and size", async () => {
    const MiB = 1024 * 1024
    expect(await resultOf("posts")).toEqual([
      { type: "text/plain;charset=UTF-8", length: "4", bytes: 4, text: "text" },
      { type: "application/x-www-form-urlencoded;charset=UTF-8", length: "3", bytes: 3, text: "a=1" },
      { type: null, length: String(3 * MiB), bytes: 3 * MiB, text: null },
      { type: null, length: null, bytes: 25, text: "part0part1part2part3part4" },
      true,
      { type: null, length: "0", bytes: 0, text: "" },
      "request"
    ])
  })

  it("streams the decompressed response, also to two readers", async () => {
    expect(await resultOf("streams")).toEqual({
      parts: true,
      text: "part 0;part 1;part 2;part 3;",
      same: true,
      br: ["unfolded", null]
    })
  })

  it("returns responses without a body, with any status, and after redirects", async () => {
    expect(await resultOf("empties")).toEqual([204, null, "", 200, null, 799, 302, "/json", true, "/json"])
  })

  it("accepts bodies up to 20 MiB", async () => {
    expect(await resultOf("large")).toEqual([20 * 1024 * 1024, true])
    expect(await resultOf("tooLarge")).toEqual([
      true,
      "TypeError",
      "fetch failed: the body of the response is over 20971520 bytes"
    ])
  })

  it("rejects targets that the policy denies, also after a redirect", async () => {
    const refused = (reason: string) => [true, "TypeError", `fetch failed: ${reason}`]
    const port = new URL(url).port
    const targets = [
      "http://127.0.0.1/",
      `http://2130706433:${Number(port) - 1}/`,
      "http://169.254.169.254/latest/meta-data/",
      `${url}/inwards`,
      `http://[::1]:${port}/`,
      "file:///etc/passwd"
    ]
    expect(await resultOf("refused", targets)).toEqual([
      refused("127.0.0.1 is a loopback address, which is not allowed here"),
      refused("127.0.0.1 is a loopback address, which is not allowed here"),
      refused("169.254.169.254 is a metadata address, which is not allowed here"),
      refused("10.0.0.1 is a private address, which is not allowed here"),
      refused("[::1] is a loopback address, which is not allowed here"),
      refused("only http and https are allowed, not file")
    ])
  })

  it("is aborted by its signal and by an error of its body, and closes the connection", async () => {
    expect(await resultOf("aborts")).toEqual(["AbortError", "AbortError", "TimeoutError", "enough", "RangeError"])
    await expect.poll(() => [openByPath.get("hangs"), openByPath.get("drips")]).toEqual([0, 0])
  })

  it("ends with its run, whether the run returned or was stopped", async () => {
    expect(await resultOf("leaves")).toBe(200)
    await expect.poll(() => openByPath.get("drips")).toBe(0)
    const stopped = await run("hangs")
    expect(stopped.status).toBe("failed")
    await expect.poll(() => openByPath.get("hangs")).toBe(0)
  })

  it("supports many concurrent requests", async () => {
    expect(await resultOf("many")).toBe(true)
  })

  it("is not available while a bundle loads", async () => {
    expect(await resultOf("loading")).toEqual([true, "TypeError", "fetch failed: no run is in progress"])
  })

  it("rejects all requests if the host has no egress", async () => {
    const { instance, opened } = await startWith(false)
    try {
      const [answer] = [await resultOf("refused", [url], opened)].flat()
      expect(answer).toEqual([true, "TypeError", "fetch failed: this host allows no outbound requests"])
    } finally {
      await instance.close()
    }
  })
})
