/**
 * A closed-loop HTTP/1.1 client: `clients` keep-alive connections, each sends its next request when the answer to
 * the last one is complete. Bare sockets, because on a small machine a full HTTP client costs as much as the server
 * that it measures, and flatters the slower one.
 *
 * Messages: JSON `LoadPlan`, answered by JSON `LoadResult`; one at a time. Ends with its parent.
 */
import { connect, type Socket } from "node:net"
import type { LoadPlan, LoadResult } from "./Load.ts"

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

const requestOf = ({ method, headers = {}, body = "" }: LoadPlan, url: URL): Buffer =>
  Buffer.from(
    [
      `${method} ${url.pathname}${url.search} HTTP/1.1`,
      `host: ${url.host}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(body === "" ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
      "",
      body
    ].join("\r\n")
  )

/** What the clients of a plan saw while it was measured. */
interface Seen {
  isMeasuring: boolean
  /** Nothing more is sent; what was sent is waited for, or the server would still be at it when others are measured. */
  isOver: boolean
  unanswered: number
  failures: number
  readonly latencies: Array<number>
}

/** `turn` is the request that it begins with. */
const run = (socket: Socket, requests: ReadonlyArray<Buffer>, seen: Seen, turn: number): void => {
  let received: Buffer = Buffer.alloc(0)
  let sentAt = performance.now()
  let next = turn
  const send = (): void => {
    if (seen.isOver) return
    seen.unanswered++
    const request = requests[next++ % requests.length]
    if (request !== undefined) socket.write(request)
  }
  socket.setNoDelay(true)
  send()
  socket.on("data", (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const length = responseLength(received)
    if (length === 0) return
    const now = performance.now()
    seen.unanswered--
    if (seen.isMeasuring) seen.latencies.push(now - sentAt)
    if (received.toString("latin1", 9, 10) !== "2") seen.failures++
    received = received.subarray(length)
    sentAt = now
    send()
  })
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1000))

/** A server that answers so seldom is measured for longer, up to ten times. */
const answersMin = 20

/** How long requests are waited for that are under way at the end. */
const patienceSeconds = 30

const until = async (isTrue: () => boolean, secondsMax: number): Promise<void> => {
  for (let waited = 0; !isTrue() && waited < secondsMax; waited += 0.02) await seconds(0.02)
}

const measure = async (plan: LoadPlan): Promise<LoadResult> => {
  const server = new URL(plan.urls[0])
  const requests = plan.urls.map((url) => requestOf(plan, new URL(url)))
  const seen: Seen = { isMeasuring: false, isOver: false, unanswered: 0, failures: 0, latencies: [] }
  const sockets = Array.from({ length: plan.clients }, (_, client) => {
    const socket = connect(Number(server.port), server.hostname, () => run(socket, requests, seen, client))
    socket.on("error", () => seen.failures++)
    socket.on("end", () => seen.failures++)
    return socket
  })
  await seconds(plan.warmupSeconds)
  seen.isMeasuring = true
  const began = performance.now()
  await seconds(plan.seconds)
  await until(() => seen.latencies.length >= answersMin, plan.seconds * 9)
  seen.isMeasuring = false
  const took = (performance.now() - began) / 1000
  seen.isOver = true
  await until(() => seen.unanswered <= 0, patienceSeconds)
  for (const socket of sockets) socket.destroy()
  const sorted = Float64Array.from(seen.latencies).sort()
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { perSecond: sorted.length / took, p50Ms: at(0.5), p99Ms: at(0.99), failures: seen.failures }
}

process.on("message", async (text) => process.send?.(JSON.stringify(await measure(JSON.parse(String(text))))))
process.on("disconnect", () => process.exit(0))
