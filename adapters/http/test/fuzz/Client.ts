/** A client for requests that `fetch` would change or reject: bodies with GET, any content type, raw paths. */
import { Agent, request } from "node:http"
import type { Reply } from "../server/TestServer.ts"

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

export interface Client {
  readonly send: (sent: Sent) => Promise<Reply>
  readonly close: () => void
}

/** True for JSON errors. A file with that content type need not contain JSON. */
const parse = (status: number, type: string | undefined, text: string): unknown => {
  if (type?.startsWith("application/json") !== true || text === "") return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    if (status >= 400) throw error
    return undefined
  }
}

/** Connections are kept alive, so that thousands of requests do not exhaust the ports. */
export const openClient = (url: string): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const send = ({ method, path, headers, body }: Sent): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const length = body === null ? {} : { "content-length": String(body.length) }
      const call = request(url, { agent, method, path, headers: { ...headers, ...length } }, (response) => {
        const type = response.headers["content-type"]
        const chunks: Array<Buffer> = []
        const done = () => {
          const text = Buffer.concat(chunks).toString()
          const all = new Headers()
          for (const [name, value] of Object.entries(response.headers)) all.set(name, String(value))
          try {
            const status = response.statusCode ?? 0
            resolve({ status, headers: all, text, json: parse(status, type, text) })
          } catch (error) {
            reject(error)
          }
        }
        // An event stream does not end, so only its headers are read.
        if (type?.startsWith("text/event-stream") === true) {
          response.destroy()
          return done()
        }
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", done)
        response.on("error", reject)
      })
      call.on("error", reject)
      call.setTimeout(20_000, () => call.destroy(new Error(`No answer to ${method} ${path}`)))
      call.end(body ?? undefined)
    })
  return { send, close: () => agent.destroy() }
}
