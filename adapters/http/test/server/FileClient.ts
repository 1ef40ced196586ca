/** Helpers for tests of files: raw bytes, unchanged headers, and aborted connections. */
import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http"
import { connect, type Socket } from "node:net"
import type { TestServer } from "./TestServer.ts"

export interface RawReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface RawRequest {
  readonly token?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: Uint8Array | string
}

/** Sends a request with a raw path, which `fetch` would normalize. */
export const raw = (
  { listening, token }: TestServer,
  method: string,
  path: string,
  options: RawRequest = {}
): Promise<RawReply> =>
  new Promise((resolve, reject) => {
    const { host, port } = listening
    const headers = { authorization: `Bearer ${options.token ?? token}`, ...options.headers }
    const sent = httpRequest({ host, port, method, path, headers, agent: false }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
      )
    })
    sent.on("error", reject)
    sent.end(options.body)
  })

/** Opens a connection for handwritten requests. */
export const openSocket = ({ listening }: TestServer): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(listening.port, listening.host, () => resolve(socket))
    socket.once("error", reject)
  })

/** Reads until the text contains `until`, or the connection ends. */
export const receiveUntil = (socket: Socket, until: string): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    const done = () => {
      socket.off("data", onData)
      resolve(text)
    }
    const onData = (chunk: Buffer) => {
      text += chunk.toString("latin1")
      if (text.includes(until)) done()
    }
    socket.on("data", onData)
    socket.once("close", done)
    socket.on("error", () => undefined)
  })

/** Bytes that differ at all common chunk boundaries. */
export const pattern = (length: number, seed = 1): Buffer => {
  const bytes = Buffer.allocUnsafe(length)
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8) * 17 + seed) & 0xff
  return bytes
}

/** Waits until the condition holds. Fails after a few seconds. */
export const eventually = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const end = Date.now() + 10_000; ; ) {
    if (await condition()) return
    if (Date.now() > end) throw new Error("The condition did not hold in time")
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
