/** The complete API of functions (decisions 5.3), row by row, as a bundle in a real sandbox. */

import { createHash } from "node:crypto"
import { createServer, type Server } from "node:http"
import { firstPage, type HostRun, start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { egress } from "@weft/egress"
import * as Http from "@weft/http"
import { sandbox } from "@weft/sandbox"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const MiB = 1024 * 1024

const source = `
const global = () => svc
const on = (event, fn) => Object.assign(fn, { meta: { event } })

export const facts = on("facts", async (event, svc) => {
  await null
  const { run, caller, request } = svc
  return { same: global() === svc, event: svc.event === event, type: event.event_type, data: event.event_data, run, caller, request: request === undefined }
})
export const context = on("context", async (event, svc) => [await svc.context.get("KEY"), await svc.context.get("NONE"), await svc.context.all()])
export const publishes = on("publishes", async (event, svc) => {
  const own = await svc.events.publish({ type: "published", data: { n: 1 } })
  const same = await svc.events.publish({ type: "published", data: { n: 2 }, stream_id: svc.run.stream_id })
  const later = await svc.events.publish({ type: "published", data: { n: 3 }, delay: "200ms" })
  return [own.stream_id !== svc.run.stream_id, same.stream_id === svc.run.stream_id, typeof later.event_id]
})
export const published = on("published", async (event) => event.event_data.n)
export const calls = on("calls", async (event, svc) => Object.keys(await svc.call("main/background", [2, 3])).length > 0)
export const background = async (a, b) => ({ product: a * b, run_type: global().run.run_type, more: global().event.event_type })
export const invokes = on("invokes", async (event, svc) => [
  await svc.invoke("main/add", [1, 2]), await svc.invoke("tools/double", 4), await svc.invoke("main/failing").catch((error) => [error.name, error.message])
])
export const add = (a, b) => a + b
export const failing = () => { throw new RangeError("on purpose") }
export const tools = { double: async (n) => n * 2 }
export const schedules = on("schedules", async (event, svc) => {
  const once = await svc.schedules.create({ fn: "main/scheduled", args: ["once"], schedule: "PT0.1S" })
  const never = await svc.schedules.create({ fn: "main/scheduled", args: ["never"], schedule: "PT2H" })
  await svc.schedules.cancel({ id: never.schedule_id })
  return typeof once
})
export const scheduled = async (word) => [word, global().run.run_type]
export const ticks = Object.assign(async (tick, svc) => [Object.keys(tick).sort(), tick.cron, svc.run.run_type, svc.tick === tick], { meta: { schedule: "* * * * * *" } })
export const streams = on("streams", async (event, svc) => svc.stream.emit("progress", { half: 0.5 }))
export const files = on("files", async (event, svc) => {
  await svc.files.put("svc/a.txt", "content", { content_type: "text/plain" })
  const file = await svc.files.get("svc/a.txt")
  const found = [file.size, file.content_type, await file.text(), (await svc.files.list("svc/")).length, (await svc.files.url("svc/a.txt")).includes("signature=")]
  return [...found, await svc.files.delete("svc/a.txt"), await svc.files.get("svc/a.txt")]
})
export const logs = on("logs", async (event, svc) => {
  svc.log.debug("debug", { a: 1 }); svc.log.info("info"); svc.log.warn("warn"); svc.log.error("error"); console.log("console", 1)
})
export const assets = on("assets", async (event, svc) => {
  const table = await svc.asset("data/table.json")
  const big = await (await svc.asset("big.bin")).bytes()
  const stored = await (await svc.asset("stored.bin")).bytes()
  const parts = []
  for await (const chunk of (await svc.asset("data/é.txt")).stream()) parts.push(chunk.length)
  const fair = (bytes) => { for (let at = 0; at < bytes.length; at += 997) if (bytes[at] !== at % 251) return false; return true }
  const none = []
  for (const name of ["none", "../index.js", "/index.js", "data", "data/", "__proto__", "constructor", ""]) none.push(await svc.asset(name))
  return { json: await table.json(), twice: await table.text(), size: table.size, type: table.content_type, etag: /^"[0-9a-f.]+"$/.test(table.etag),
    names: Object.keys(table).sort(), big: [big.length, fair(big)], stored: [stored.length, fair(stored)], unicode: parts, empty: await (await svc.asset("empty")).text(),
    own: (await (await svc.asset("index.js")).text()).startsWith("\\nconst global"), none, wrong: await svc.asset(7).catch((error) => error.name) }
})
export const waits = on("waits", async (event, svc) => {
  const aborted = new Promise((resolve) => svc.signal.addEventListener("abort", () => {
    svc.log.info("aborted", svc.signal.reason.name)
    resolve(0)
  }))
  await svc.files.put("waits", "")
  return aborted
})
export const hook = Object.assign(async (request, svc) => [
  svc.request === request, Object.keys(request).sort(), request.query, request.body, svc.caller, svc.run.run_type
], { meta: { webhook: { service: "all", path: "/hook" } } })
export const secured = Object.assign(async (request, svc) => ({ status: 201, headers: { "x-a": "b" }, body: [svc.caller.type, svc.caller.permissions, svc.caller.metadata, request.auth.type] }),
  { meta: { webhook: { service: "all", path: "/secured", auth: "required" } } })
export const tool = Object.assign(async (args, svc) => ({ args, same: svc.tool === args && global() === svc, caller: svc.caller.type, type: svc.run.run_type }),
  { meta: { tool: { service: "all", name: "tool" } } })

export const platform = on("platform", async (event) => {
  const bytes = new TextEncoder().encode("héllo")
  const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  const hmac = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"])
  const mac = await crypto.subtle.sign("HMAC", hmac, bytes)
  const aes = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt", "decrypt"])
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, aes, bytes)
  const form = new FormData()
  form.set("file", new Blob(["x"], { type: "text/plain" }), "x.txt")
  const order = []
  await new Promise((resolve) => {
    let count = 0
    const interval = setInterval(() => { order.push("interval"); if (++count === 2) { clearInterval(interval); resolve() } }, 2)
    queueMicrotask(() => order.push("microtask"))
    clearTimeout(setTimeout(() => order.push("never"), 1))
  })
  const controller = new AbortController()
  controller.abort()
  const stream = new ReadableStream({ start(controller) { controller.enqueue(bytes); controller.close() } })
  const answer = await fetch(new Request(event.event_data, { method: "POST", headers: new Headers({ "x-a": "1" }), body: "sent" }))
  return {
    url: [new URL("../b?c=1#d", "https://a.example/x/y").href, new URLSearchParams("a=1&a=2").getAll("a")],
    text: [new TextDecoder().decode(bytes), bytes.length],
    base64: [btoa("ab"), atob("YWI=")],
    digest: hex(await crypto.subtle.digest("SHA-256", bytes)), mac: hex(mac), verified: await crypto.subtle.verify("HMAC", hmac, mac, bytes),
    aes: new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, aes, sealed)),
    uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-4/.test(crypto.randomUUID()),
    clone: structuredClone(new Map([[1, new Date(0)]])).get(1) instanceof Date,
    form: await form.get("file").text(), blob: new Blob(["a", "b"]).size, order, aborted: controller.signal.aborted, now: typeof performance.now(),
    stream: (await new Response(stream).text()).length, response: await Response.json({ a: 1 }).json(), fetched: [answer.status, await answer.text()]
  }
})
export const absent = on("absent", async (event) => {
  const names = ["process", "require", "Buffer", "global", "module", "__dirname", "WebAssembly", "SharedArrayBuffer", "Deno", "Bun", "setImmediate"]
  const imported = await import(event.event_data).then(() => "imported", () => "refused")
  return [names.filter((name) => name in globalThis), imported]
})
`

const pattern = (length: number) => Uint8Array.from({ length }, (_, at) => at % 251)

let weft: WeftInstance
let env: WeftEnv
let listening: Http.Listening
let echo: Server
let echoUrl: string
let token: string

beforeAll(async () => {
  echo = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => response.end(`${request.method} ${request.headers["x-a"]} ${Buffer.concat(chunks)}`))
  })
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve))
  const address = echo.address()
  echoUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/`
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1 }),
    egress: egress({ policy: { allow: ["127.0.0.1"] } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    publicUrl: "https://weft.example"
  })
  listening = await Http.listen(weft, { port: 0 })
  const org = await weft.orgs.create({ slug: "all" })
  const { env_id } = await weft.envs.create(org.org_id, { name: "production" })
  token = Redacted.value((await weft.apiKeys.create(env_id, {})).token)
  env = weft.env(env_id)
  await env.projects.create({ name: "all" })
  await env.context.create("all", { key: "KEY", value: "a-secret", description: "" })
  const zip = zipSync({
    "index.js": strToU8(source),
    "data/": new Uint8Array(),
    "data/table.json": strToU8('{"rows":[1,2]}'),
    "data/é.txt": strToU8("é"),
    "big.bin": pattern(3 * MiB),
    "stored.bin": [pattern(MiB), { level: 0 }],
    empty: new Uint8Array()
  })
  const hash = createHash("sha256").update(zip).digest("hex")
  const { build } = await env.builds.upload("all", { zip, hash })
  await env.builds.deploy("all", build.build_id)
}, 60_000)
afterAll(async () => {
  await listening.close()
  await weft.close()
  echo.close()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until `read` returns a value. */
const eventually = async <A>(read: () => Promise<A | undefined>): Promise<A> => {
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    await pause(20)
  }
}

const runOf = async (type: string, data: unknown = null): Promise<HostRun> => {
  const event = await env.events.publish({ type, data: JSON.parse(JSON.stringify(data)) })
  return eventually(async () => {
    const [run] = await env.events.runs(event.event_id)
    return run === undefined || run.status === "running" ? undefined : run
  })
}

const resultOf = async (type: string, data: unknown = null): Promise<unknown> => {
  const run = await runOf(type, data)
  expect(run.status, JSON.stringify(run.result)).toBe("succeeded")
  return run.result
}

/** Waits for a run of this function with this result. */
const untilFinished = (fn: string, result: unknown) =>
  eventually(async () => {
    const { items } = await env.runs.list({}, { limit: 100, offset: 0 })
    return items.find((run) => run.var === fn && JSON.stringify(run.result) === JSON.stringify(result))
  })

describe("svc", () => {
  it("is an argument and a global, with the event and the run", async () => {
    const run = await runOf("facts", { a: 1 })
    const { run_id, stream_id, env_id, project_id, build_id } = run
    expect(run.result).toEqual({
      same: true,
      event: true,
      type: "facts",
      data: { a: 1 },
      run: { run_id, stream_id, env_id, project_id, build_id, run_type: "event", attempt: 1, origin_run_id: null },
      caller: null,
      request: true
    })
  })

  it("reads the secrets of its project", async () => {
    expect(await resultOf("context")).toEqual(["a-secret", null, { KEY: "a-secret" }])
  })

  it("publishes events: in new streams, in its own stream, and with a delay", async () => {
    expect(await resultOf("publishes")).toEqual([true, true, "string"])
    for (const n of [1, 2, 3]) await untilFinished("published", n)
  })

  it("calls functions in the background", async () => {
    expect(await resultOf("calls")).toBe(true)
    const run = await untilFinished("background", { product: 6, run_type: "call", more: "svc:call" })
    expect(run.run_type).toBe("call")
  })

  it("invokes functions of the build within the run", async () => {
    expect(await resultOf("invokes")).toEqual([3, 8, ["RangeError", "on purpose"]])
  })

  it("creates and cancels schedules", async () => {
    expect(await resultOf("schedules")).toBe("object")
    const run = await untilFinished("scheduled", ["once", "schedule"])
    expect(run.run_type).toBe("schedule")
  }, 20_000)

  it("receives the tick of its schedule", async () => {
    await untilFinished("ticks", [["cron", "schedule_id", "scheduled_time"], "* * * * * *", "schedule", true])
  }, 20_000)

  it("emits data to subscribers of its stream", async () => {
    const event_data = null
    const response = await fetch(`${listening.url}/v1/streams/subscribe-with-event`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "text/event-stream" },
      body: JSON.stringify({ event_type: "streams", event_data })
    })
    let text = ""
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (text.includes("stream:data")) break
    }
    expect(text).toContain('"data_type":"progress"')
    expect(text).toContain('"payload":{"half":0.5}')
  })

  it("stores files", async () => {
    expect(await resultOf("files")).toEqual([7, "text/plain", "content", 1, true, true, null])
  })

  it("logs, as console does", async () => {
    const { run_id } = await runOf("logs")
    const { items } = await env.runs.logs(run_id)
    expect(items.map(({ level, message }) => [level, message])).toEqual([
      ["debug", "debug"],
      ["info", "info"],
      ["warn", "warn"],
      ["error", "error"],
      ["info", "console 1"]
    ])
    expect(items[0]?.data).toBe('{"a":1}')
  })

  it("reads the assets of its build, and null for other names", async () => {
    expect(await resultOf("assets")).toEqual({
      json: { rows: [1, 2] },
      twice: '{"rows":[1,2]}',
      size: 14,
      type: "application/json",
      etag: true,
      names: ["content_type", "etag", "name", "size"],
      big: [3 * MiB, true],
      stored: [MiB, true],
      unicode: [2],
      empty: "",
      own: true,
      none: [null, null, null, null, null, null, null, null],
      wrong: "TypeError"
    })
  })

  it("aborts its signal when the run is cancelled", async () => {
    const event = await env.events.publish({ type: "waits", data: null })
    const { run_id } = await eventually(async () => (await env.events.runs(event.event_id))[0])
    await eventually(async () => (await env.files.list(firstPage, "waits")).items[0])
    const response = await fetch(`${listening.url}/v1/runs/${run_id}/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` }
    })
    expect(response.status).toBe(200)
    expect((await env.runs.get(run_id)).status).toBe("cancelled")
    const [logged] = await eventually(async () => {
      const { items } = await env.runs.logs(run_id)
      return items.length === 0 ? undefined : items
    })
    expect([logged?.message, logged?.data]).toEqual(["aborted", '"AbortError"'])
  })

  it("has the request and the caller of a webhook", async () => {
    const at = `${listening.url}/webhook/all/production/all`
    const json = { "content-type": "application/json" }
    const open = await fetch(`${at}/hook?name=ada`, { method: "POST", body: '{"a":1}', headers: json })
    expect(await open.json()).toEqual([
      true,
      ["body", "body-raw", "headers", "ip", "method", "query", "url"],
      { name: "ada" },
      { a: 1 },
      null,
      "call"
    ])
    const headers = { authorization: `Bearer ${token}` }
    const secured = await fetch(`${at}/secured`, { method: "POST", headers })
    expect([secured.status, secured.headers.get("x-a")]).toEqual([201, "b"])
    expect(await secured.json()).toEqual(["api-key", { "*:*": ["*"] }, null, "api-key"])
  })

  it("has the arguments and the caller of a tool", async () => {
    const response = await fetch(`${listening.url}/mcp/all/production/all`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "tool", arguments: { a: [1] } }
      })
    })
    const { result } = JSON.parse(await response.text())
    expect(result.structuredContent).toEqual({ args: { a: [1] }, same: true, caller: "api-key", type: "call" })
  })
})

describe("the Web platform", () => {
  it("works", async () => {
    const encoder = new TextEncoder()
    const key = await crypto.subtle.importKey(
      "raw",
      encoder.encode("héllo"),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"]
    )
    const hex = (buffer: ArrayBuffer) => Buffer.from(buffer).toString("hex")
    expect(await resultOf("platform", echoUrl)).toEqual({
      url: ["https://a.example/b?c=1#d", ["1", "2"]],
      text: ["héllo", 6],
      base64: ["YWI=", "ab"],
      digest: hex(await crypto.subtle.digest("SHA-256", encoder.encode("héllo"))),
      mac: hex(await crypto.subtle.sign("HMAC", key, encoder.encode("héllo"))),
      verified: true,
      aes: "héllo",
      uuid: true,
      clone: true,
      form: "x",
      blob: 2,
      order: ["microtask", "interval", "interval"],
      aborted: true,
      now: "number",
      stream: 5,
      response: { a: 1 },
      fetched: [200, "POST 1 sent"]
    })
  })

  it("is all: no API of Node.js, the file system or the host is available", async () => {
    expect(await resultOf("absent", "node:fs")).toEqual([[], "refused"])
  })
})
