/**
 * A closed-loop HTTP client (`HTTP/1.1`). Each keep-alive connection sends its next request after the complete response.
 * It uses bare sockets. On a small machine, a full HTTP client costs as much CPU as the server that it measures, which
 * favors slower servers.
 *
 * It receives a JSON `LoadPlan`, sends a JSON `LoadResult`, one at a time, and exits with its parent.
 */
import { connect, type Socket } from "node:net"
import type { LoadPlan, LoadResult } from "./Load.ts"

/** Returns the length of the first complete response in `buffer`, or 0. Supports content-length and chunked bodies. */
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

const buildRequest = ({ method, headers = {}, body = "" }: LoadPlan, url: URL): Buffer =>
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

/** State of the clients of a plan. */
interface State {
  isMeasuring: boolean
  /** True if no more requests are sent. Responses in flight are awaited, so that they do not affect the next plan. */
  isStopping: boolean
  unanswered: number
  failures: number
  readonly latencies: Array<number>
}

/** Runs one client, starting with the request number `first`. */
const run = (socket: Socket, requests: ReadonlyArray<Buffer>, state: State, first: number): void => {
  let received: Buffer = Buffer.alloc(0)
  let sentAt = performance.now()
  let next = first
  const send = (): void => {
    if (state.isStopping) return
    state.unanswered++
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
    state.unanswered--
    if (state.isMeasuring) state.latencies.push(now - sentAt)
    if (received.toString("latin1", 9, 10) !== "2") state.failures++
    received = received.subarray(length)
    sentAt = now
    send()
  })
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1000))

/** Minimum responses; a slower server is measured for up to ten times as long. */
const responsesMin = 20

/** Maximum time for responses in flight at the end, in seconds. */
const drainSeconds = 30

const until = async (isTrue: () => boolean, secondsMax: number): Promise<void> => {
  for (let waited = 0; !isTrue() && waited < secondsMax; waited += 0.02) await seconds(0.02)
}

const measure = async (plan: LoadPlan): Promise<LoadResult> => {
  const server = new URL(plan.urls[0])
  const requests = plan.urls.map((url) => buildRequest(plan, new URL(url)))
  const state: State = { isMeasuring: false, isStopping: false, unanswered: 0, failures: 0, latencies: [] }
  const sockets = Array.from({ length: plan.clients }, (_, client) => {
    const socket = connect(Number(server.port), server.hostname, () => run(socket, requests, state, client))
    socket.on("error", () => state.failures++)
    socket.on("end", () => state.failures++)
    return socket
  })
  await seconds(plan.warmupSeconds)
  state.isMeasuring = true
  const began = performance.now()
  await seconds(plan.seconds)
  await until(() => state.latencies.length >= responsesMin, plan.seconds * 9)
  state.isMeasuring = false
  const took = (performance.now() - began) / 1000
  state.isStopping = true
  await until(() => state.unanswered <= 0, drainSeconds)
  for (const socket of sockets) socket.destroy()
  const sorted = Float64Array.from(state.latencies).sort()
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { perSecond: sorted.length / took, p50Ms: at(0.5), p99Ms: at(0.99), failures: state.failures }
}

process.on("message", async (text) => process.send?.(JSON.stringify(await measure(JSON.parse(String(text))))))
process.on("disconnect", () => process.exit(0))
