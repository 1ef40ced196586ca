/** `WebSocket` of functions, with a real sandbox, a real server and an egress policy. */
import { createHash } from "node:crypto"
import { once } from "node:events"
import { start, type WeftEnv, type WeftInstance } from "@weft/core"
import { MemoryStores } from "@weft/core/testing"
import { egress } from "@weft/egress"
import { sandbox } from "@weft/sandbox"
import { Redacted } from "effect"
import { strToU8, zipSync } from "fflate"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WebSocketServer } from "ws"

const source = `
const on = (event, fn) => Object.assign(fn, { meta: { event } })
const opened = async (url, ...rest) => {
  const socket = new WebSocket(url, ...rest)
  socket.binaryType = "arraybuffer"
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = (event) => reject(new Error(event.message)) })
  return socket
}
const next = (socket) => new Promise((resolve) => socket.addEventListener("message", ({ data }) => resolve(data), { once: true }))
const closed = (socket) => new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }))

export const echoes = on("echoes", async (event) => {
  const socket = await opened(event.event_data + "/echo", ["chat"])
  const answers = []
  for (const data of ["text", "é\\u2028\\u0000", "", new Uint8Array([0, 255]), new Uint8Array(900000).fill(9), "x".repeat(400000)]) {
    socket.send(data)
    const answer = await next(socket)
    answers.push(typeof answer === "string" ? (answer.length < 10 ? answer : answer.length) : [answer.byteLength, new Uint8Array(answer).at(-1)])
  }
  socket.close(3005, "done")
  const { code, reason, wasClean } = await closed(socket)
  return { protocol: socket.protocol, answers, code, reason, wasClean }
})
export const burst = on("burst", async (event) => {
  const socket = await opened(event.event_data + "/burst")
  let count = 0
  let inOrder = true
  socket.onmessage = ({ data }) => { inOrder &&= data === String(count); count++ }
  const { code } = await closed(socket)
  return [count, inOrder, code]
})
export const refused = on("refused", async (event) => {
  const reasons = []
  for (const url of event.event_data) reasons.push(await opened(url).then(() => "open", (error) => error.message))
  return reasons
})
export const leaves = on("leaves", async (event) => {
  const socket = await opened(event.event_data + "/silent")
  return socket.readyState
})
export const many = on("many", async (event) => {
  const results = await Promise.allSettled(Array.from({ length: 40 }, () => opened(event.event_data + "/silent")))
  return [results.filter(({ status }) => status === "fulfilled").length, results.find(({ reason }) => reason)?.reason.message]
})
export const floods = on("floods", async (event) => {
  const socket = await opened(event.event_data + "/silent")
  const chunk = new Uint8Array(50000)
  for (let n = 0; n < 20; n++) socket.send(chunk)
  const before = socket.bufferedAmount
  socket.send(new Uint8Array(2000000))
  const { code } = await closed(socket)
  return [before, code]
})
`

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "chat" })
server.on("connection", (socket, { url }) => {
  if (url === "/echo") socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }))
  if (url !== "/burst") return
  for (let n = 0; n < 3000; n++) socket.send(String(n))
  socket.close(1000)
})

let weft: WeftInstance
let env: WeftEnv
let url: string

/** Publishes an event, waits until its run has ended, and returns its result. */
const resultOf = async (type: string, data: string | ReadonlyArray<string> = url) => {
  const { event_id } = await env.events.publish({ type, data })
  for (;;) {
    const [ended] = (await env.events.runs(event_id)).filter(({ status }) => status !== "running")
    if (ended !== undefined) {
      expect([ended.status, ended.result]).toEqual(["succeeded", ended.result])
      return ended.result
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

beforeAll(async () => {
  if (server.address() === null) await once(server, "listening")
  const address = server.address()
  url = `ws://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  weft = await start({
    database: MemoryStores.database,
    blobs: MemoryStores.blobs,
    sandbox: sandbox({ runners: 1, limits: { cpuSliceMs: 5_000 } }),
    masterKeys: [Redacted.make(new Uint8Array(32).fill(7))],
    egress: egress({ policy: { allow: [url.replace("ws://", "")] } })
  })
  const org = await weft.orgs.create({ slug: "sockets" })
  const { env_id } = await weft.envs.create(org.org_id, { name: "production" })
  env = weft.env(env_id)
  const zip = zipSync({ "index.js": strToU8(source) })
  await env.projects.create({ name: "sockets" })
  const { build } = await env.builds.upload("sockets", { zip, hash: createHash("sha256").update(zip).digest("hex") })
  await env.builds.deploy("sockets", build.build_id)
})

afterAll(async () => {
  await weft.close()
  for (const client of server.clients) client.terminate()
  await new Promise((resolve) => server.close(resolve))
})

describe("WebSocket", () => {
  it("exchanges text and bytes of every size, and closes with a code", async () => {
    expect(await resultOf("echoes")).toEqual({
      protocol: "chat",
      answers: ["text", "é\u2028\u0000", "", [2, 255], [900_000, 9], 400_000],
      code: 3005,
      reason: "done",
      wasClean: true
    })
  })

  it("delivers thousands of messages in order before the close event", async () => {
    expect(await resultOf("burst")).toEqual([3000, true, 1000])
  })

  it("reaches only destinations that the policy allows", async () => {
    const port = Number(new URL(url).port)
    expect(
      await resultOf("refused", ["ws://127.0.0.1/", `ws://[::1]:${port}/`, "wss://169.254.169.254/", "ws://10.0.0.1/"])
    ).toEqual([
      "127.0.0.1 is a loopback address, which is not allowed here",
      "[::1] is a loopback address, which is not allowed here",
      "169.254.169.254 is a metadata address, which is not allowed here",
      "10.0.0.1 is a private address, which is not allowed here"
    ])
  })

  it("ends with its run, which does not wait for messages", async () => {
    expect(await resultOf("leaves")).toBe(1)
    await expect.poll(() => server.clients.size).toBe(0)
  })

  it("is limited to 32 connections of a run", async () => {
    expect(await resultOf("many")).toEqual([32, "a run may open at most 32 WebSockets"])
    await expect.poll(() => server.clients.size).toBe(0)
  })

  it("counts the bytes that wait, and fails for a message that is too large", async () => {
    expect(await resultOf("floods")).toEqual([1_000_000, 1006])
  })
})
