/** A server of subscriptions that fails as it is told: what a test writes is what is sent. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export class FrailServer {
  readonly url: string
  readonly requests: ReadonlyArray<IncomingMessage>
  readonly #close: () => Promise<void>

  private constructor(url: string, requests: ReadonlyArray<IncomingMessage>, close: () => Promise<void>) {
    this.url = url
    this.requests = requests
    this.#close = close
  }

  /** Requests are answered in turn; the last answer is for all that follow. */
  static start(...answers: ReadonlyArray<Answer>): Promise<FrailServer> {
    const requests: Array<IncomingMessage> = []
    const server = createServer((request, response) => {
      const answer = answers[Math.min(requests.length, answers.length - 1)]
      requests.push(request)
      request.resume()
      answer?.(response, request)
    })
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    return new Promise((resolve) => {
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resolve(new FrailServer(`http://127.0.0.1:${port}`, requests, close))
      })
    })
  }

  /** What the clients said to have received last. */
  get lastIds(): ReadonlyArray<string | undefined> {
    return this.requests.map(({ headers }) => headers["last-event-id"]?.toString())
  }

  close(): Promise<void> {
    return this.#close()
  }
}

const begin = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream" })

/** Sends the text, then ends as servers do. */
export const told =
  (text: string): Answer =>
  (response) => {
    begin(response).end(text)
  }

/** Sends the text, then the connection breaks. */
export const cutAfter =
  (text: string): Answer =>
  (response) => {
    begin(response).write(text, () => setTimeout(() => response.socket?.destroy(), 10))
  }

/** Sends the text, and nothing more. */
export const silentAfter =
  (text: string): Answer =>
  (response) => {
    begin(response).write(text)
  }

export const refused =
  (status: number, code: string): Answer =>
  (response) => {
    response.writeHead(status).end(JSON.stringify({ error: { code, message: code, request_id: "r" } }))
  }
