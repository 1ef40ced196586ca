/** Evaluation of source text by a host, in real isolates. */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { egress } from "@weft/egress"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createWeft, HostRefused, type TenantHandle, type Weft } from "weft"

let dataDir: string
let weft: Weft
let tenant: TenantHandle
let other: TenantHandle
let peer: Server
let port = 0

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "weft-evaluate-"))
  weft = await createWeft({ dataDir, egress: egress({ policy: { allow: ["localhost", "127.0.0.1"] } }) })
  tenant = await weft.tenants.ensure({ org: "acme" })
  other = await weft.tenants.ensure({ org: "other" })
  peer = createServer((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()
    else response.end("pong")
  })
  await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve))
  const address = peer.address()
  port = typeof address === "object" && address !== null ? address.port : 0
})

afterAll(async () => {
  peer.close()
  await weft?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

describe("evaluate", () => {
  it("returns the value, the log and the usage of an expression, and stores no run", async () => {
    const ended = await tenant.evaluate("args[0] * 2", { args: [21] })
    expect(ended).toMatchObject({ ok: true, value: 42, logs: [] })
    // The heap is sampled while the first run may already end.
    const again = await tenant.evaluate("args[0] * 2", { args: [21] })
    expect(again.heapBytes).toBeGreaterThan(0)
    const typed = await tenant.evaluate("svc.log.info('of', { n: 1 })\nreturn [args.length as number]")
    expect(typed).toMatchObject({ ok: true, value: [0], logs: [{ level: "info", message: "of", data: { n: 1 } }] })
    expect((await tenant.runs.list({ type: "eval" })).total).toBe(0)
  })

  it("stores a run if the host wants it", async () => {
    const { runId } = await tenant.evaluate("1", { record: true })
    expect(await tenant.runs.get(runId)).toMatchObject({ type: "eval", status: "succeeded", result: 1 })
  })

  it("resolves with the error of code that fails, and rejects for a syntax error", async () => {
    const failed = await tenant.evaluate("const fail = () => { throw new RangeError('no') }\nfail()")
    expect(failed).toMatchObject({ ok: false, error: { name: "RangeError", message: "no" } })
    expect(!failed.ok && failed.error.stack).toContain("eval.ts:1:")
    const loop = await tenant.evaluate("for (;;) {}", { limits: { timeoutMs: 30_000 } })
    expect(loop).toMatchObject({ ok: false, error: { name: "CpuExhausted" } })
    const slow = await tenant.evaluate("await new Promise(() => {})", { limits: { timeoutMs: 20 } })
    expect(slow).toMatchObject({ ok: false, error: { name: "TimedOut" } })
    await expect(tenant.evaluate("1 +")).rejects.toMatchObject({ code: "bad_request" })
    await expect(tenant.evaluate("1", { limits: { timeoutMs: 0 } })).rejects.toMatchObject({ code: "bad_request" })
  })

  it("has no capabilities by default", async () => {
    const uses = [
      "svc.host.shop.price('a')",
      `fetch('http://localhost:${port}/')`,
      "svc.files.get('a')",
      "svc.files.put('a', 'b')",
      "svc.context.all()",
      "svc.events.publish({ type: 'a', data: 1 })",
      "svc.call('main/a', [])",
      "svc.stream.emit('a', 1)"
    ]
    for (const use of uses) {
      expect(await tenant.evaluate(`await ${use}`), use).toMatchObject({ ok: false })
    }
    expect((await tenant.events.list()).total).toBe(0)
  })

  it("calls exactly the listed functions of the host, whose errors stay with the host", async () => {
    const host = {
      "shop.price": async (input: unknown) => ({ of: input, price: 7 }),
      "shop.refuses": () => {
        throw new HostRefused("SoldOut", "no more of them")
      },
      "shop.fails": () => {
        throw new Error("the password is hunter2")
      }
    }
    const evaluate = (source: string) => tenant.evaluate(source, { capabilities: { host } })
    expect(await evaluate("await svc.host.shop.price('a')")).toMatchObject({ ok: true, value: { of: "a", price: 7 } })
    expect(await evaluate("await svc.host.shop.refuses()")).toMatchObject({
      error: { name: "SoldOut", message: "no more of them" }
    })
    const failed = await evaluate("await svc.host.shop.fails()")
    expect(failed).toMatchObject({ error: { name: "Failed" } })
    expect(JSON.stringify(failed)).not.toContain("hunter2")
    expect(await evaluate("await svc.host.shop.other()")).toMatchObject({ error: { name: "NotAllowed" } })
  })

  it("fetches only from listed hosts, and follows no redirect", async () => {
    const evaluate = (path: string, hosts: ReadonlyArray<string>) =>
      tenant.evaluate("(await fetch(args[0])).text()", {
        args: [`http://localhost:${port}${path}`],
        capabilities: { fetch: hosts },
        limits: { timeoutMs: 10_000 }
      })
    expect(await evaluate("/", ["localhost"])).toMatchObject({ ok: true, value: "pong" })
    expect(await evaluate("/", [`localhost:${port}`])).toMatchObject({ ok: true, value: "pong" })
    expect(await evaluate("/", ["localhost:1", "example.com"])).toMatchObject({ ok: false })
    expect(await evaluate("/away", ["localhost"])).toMatchObject({ ok: false })
    await expect(evaluate("/", ["10.0.0.1"])).rejects.toMatchObject({ code: "bad_request" })
  })

  it("reads files below the prefix, and writes only with `write`", async () => {
    await tenant.files.upload("reports/a.txt", new TextEncoder().encode("text"))
    await tenant.files.upload("secret.txt", new TextEncoder().encode("secret"))
    const evaluate = (source: string, write = false) =>
      tenant.evaluate(source, { capabilities: { files: { prefix: "reports", write } } })
    expect(await evaluate("(await svc.files.get('reports/a.txt')).text()")).toMatchObject({ value: "text" })
    expect(await evaluate("await svc.files.get('secret.txt')")).toMatchObject({ error: { name: "Forbidden" } })
    expect(await evaluate("await svc.files.put('reports/b.txt', 'b')")).toMatchObject({ ok: false })
    expect(await evaluate("await svc.files.put('reports/b.txt', 'b')", true)).toMatchObject({ ok: true })
    expect(await evaluate("await svc.files.put('b.txt', 'b')", true)).toMatchObject({ error: { name: "Forbidden" } })
  })

  it("shares globals only between equal sources with equal capabilities of one environment", async () => {
    const source = "globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n"
    const value = async (of: TenantHandle, text = source, host = {}) => {
      const ended = await of.evaluate(text, { capabilities: { host } })
      return ended.ok ? ended.value : ended.error
    }
    expect([await value(tenant), await value(tenant)]).toEqual([1, 2])
    expect(await value(other)).toBe(1)
    expect(await value(tenant, `${source} `)).toBe(1)
    expect(await value(tenant, source, { a: () => 1 })).toBe(1)
  })

  it("rejects with the reason of its signal, and ends the code", async () => {
    const controller = new AbortController()
    const source = "await new Promise((done) => setTimeout(done, 30_000))"
    const running = tenant.evaluate(source, { signal: controller.signal, limits: { timeoutMs: 60_000 } })
    controller.abort(new Error("enough"))
    await expect(running).rejects.toThrow("enough")
    await expect(tenant.evaluate("1", { signal: controller.signal })).rejects.toThrow("enough")
  })
})
