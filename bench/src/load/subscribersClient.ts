/**
 * Many subscribers of an environment on bare sockets. All receive the same messages, so only a few parse them, to check
 * their order and age. The others count them.
 *
 * The argument is a JSON `SubscribersPlan`. It prints `ready` when all are subscribed, and a JSON `SubscribersResult` for
 * each line on standard input.
 */
import { connect, type Socket } from "node:net"
import { createInterface } from "node:readline"
import type { SubscribersPlan, SubscribersResult } from "./Subscribers.ts"

const plan: SubscribersPlan = JSON.parse(process.argv[2] ?? "{}")
const url = new URL(plan.url)
const request = `GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${plan.token}\r\n\r\n`

const mark = Buffer.from("\ndata: ")
let ages: Array<number> = []
let disorder = 0
let cutOff = 0
let isStopping = false

/** Counts the marks on a connection, including those split over two chunks. */
const counter = () => {
  let count = 0
  let begun = 0
  return {
    read: (piece: Buffer): void => {
      if (begun > 0 && startsWith(piece, mark.subarray(begun))) count++
      for (let at = piece.indexOf(mark); at >= 0; at = piece.indexOf(mark, at + mark.length)) count++
      begun = begunAtEnd(piece)
    },
    taken: () => {
      const taken = count
      count = 0
      return taken
    }
  }
}

const startsWith = (piece: Buffer, bytes: Buffer): boolean => piece.subarray(0, bytes.length).equals(bytes)

/** Returns the length of the partial mark at the end of a chunk. */
const begunAtEnd = (piece: Buffer): number => {
  const at = piece.lastIndexOf(mark[0] ?? 0)
  const length = piece.length - at
  return at >= 0 && length < mark.length && startsWith(mark, piece.subarray(at)) ? length : 0
}

/** Returns the epoch milliseconds of a UUIDv7. */
const createdAt = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** Parses messages: their numbers must ascend by one, and the time of the event's id gives their age. */
const reader = () => {
  let rest = ""
  let last: number | null = null
  return (piece: Buffer): void => {
    // Lines of chunked encoding are between messages and do not match the patterns.
    const blocks = `${rest}${piece.toString("latin1")}`.split("\n\n")
    rest = blocks.pop() ?? ""
    for (const block of blocks) {
      const seq = Number(/^id: .*-(\d+)(?:-t\d+)?$/m.exec(block)?.[1] ?? Number.NaN)
      if (!block.includes("\ndata: ") || Number.isNaN(seq)) continue
      if (last !== null && seq !== last + 1) disorder++
      last = seq
      const event = /"event_id":"([^"]+)"/.exec(block)?.[1]
      if (event !== undefined) ages.push(Date.now() - createdAt(event))
    }
  }
}

/** True for readers, which are spread evenly: early subscribers may receive messages first. */
const isReader = (index: number): boolean => index % Math.floor(plan.subscribers / plan.readers) === 0

const counters: Array<ReturnType<typeof counter>> = []
const sockets: Array<Socket> = []

/** One buffer for all sockets, because each chunk is read at once; separate buffers would dominate the CPU time. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024)

const subscribe = (index: number): Promise<void> =>
  new Promise((resolve) => {
    const counted = counter()
    const read = isReader(index) ? reader() : null
    let isConnected = false
    const callback = (length: number): boolean => {
      const piece = buffer.subarray(0, length)
      counted.read(piece)
      read?.(piece)
      if (!isConnected && piece.includes(": connected")) {
        isConnected = true
        resolve()
      }
      return true
    }
    const onread = { buffer, callback }
    const socket = connect({ port: Number(url.port), host: url.hostname, onread }, () => socket.write(request))
    counters.push(counted)
    sockets.push(socket)
    socket.on("error", () => undefined)
    socket.on("close", () => {
      if (!isStopping) cutOff++
    })
  })

for (let index = 0; index < plan.subscribers; index += 50) {
  await Promise.all(Array.from({ length: Math.min(50, plan.subscribers - index) }, (_, at) => subscribe(index + at)))
}
process.stdout.write("ready\n")

const takeResult = (): SubscribersResult => {
  const sorted = ages.sort((a, b) => a - b)
  const result = {
    received: counters.reduce((sum, { taken }) => sum + taken(), 0),
    disorder,
    cutOff,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? Number.NaN,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    maxMs: sorted.at(-1) ?? Number.NaN
  }
  ages = []
  disorder = 0
  return result
}

createInterface({ input: process.stdin })
  .on("line", () => process.stdout.write(`${JSON.stringify(takeResult())}\n`))
  .on("close", () => {
    isStopping = true
    for (const socket of sockets) socket.destroy()
  })
