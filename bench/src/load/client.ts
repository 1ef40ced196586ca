/**
 * A closed-loop HTTP/1.1 client: `clients` keep-alive connections, each sends its next request when the answer to
 * the last one is complete. Bare sockets, because on a small machine a full HTTP client costs as much as the server
 * that it measures, and flatters the slower one.
 *
 * argv: JSON `LoadPlan`; prints JSON `LoadResult`.
 */
import { connect, type Socket } from "node:net"
import type { LoadPlan, LoadResult } from "./Load.ts"

const plan: LoadPlan = JSON.parse(process.argv[2] ?? "{}")
const body = plan.body ?? ""
const requestOf = (url: URL): Buffer =>
  Buffer.from(
    [
      `${plan.method} ${url.pathname}${url.search} HTTP/1.1`,
      `host: ${url.host}`,
      ...Object.entries(plan.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      ...(body === "" ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
      "",
      body
    ].join("\r\n")
  )
const server = new URL(plan.urls[0])
const requests = plan.urls.map((url) => requestOf(new URL(url)))

const latencies: Array<number> = []
let failures = 0
let measuring = false

/** Length of the first whole response in `buffer`, or 0. Understands content-length and chunked bodies. */
const responseLength = (buffer: Buffer): number => {
  const end = buffer.indexOf("\r\n\r\n")
  if (end < 0) return 0
  const head = buffer.toString("latin1", 0, end).toLowerCase()
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1]
  if (length !== undefined) return buffer.length >= end + 4 + Number(length) ? end + 4 + Number(length) : 0
  if (!head.includes("transfer-encoding: chunked")) return end + 4
  const last = buffer.indexOf("0\r\n\r\n", end + 4)
  return last < 0 ? 0 : last + 5
}

const run = (socket: Socket, client: number): void => {
  let received: Buffer = Buffer.alloc(0)
  let sentAt = performance.now()
  let turn = client
  const send = (): void => {
    const request = requests[turn++ % requests.length]
    if (request !== undefined) socket.write(request)
  }
  socket.setNoDelay(true)
  send()
  socket.on("data", (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const length = responseLength(received)
    if (length === 0) return
    const now = performance.now()
    if (measuring) latencies.push(now - sentAt)
    if (received.toString("latin1", 9, 10) !== "2") failures++
    received = received.subarray(length)
    sentAt = now
    send()
  })
  socket.on("error", () => failures++)
}

for (let client = 0; client < plan.clients; client++) {
  const socket = connect(Number(server.port), server.hostname, () => run(socket, client))
}
setTimeout(() => {
  measuring = true
  const began = performance.now()
  setTimeout(() => {
    const seconds = (performance.now() - began) / 1000
    const sorted = latencies.sort((a, b) => a - b)
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
    const result: LoadResult = { perSecond: sorted.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), failures }
    process.stdout.write(JSON.stringify(result), () => process.exit(0))
  }, plan.seconds * 1000)
}, plan.warmupSeconds * 1000)
