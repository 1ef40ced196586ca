/** A server of subscriptions with scripted responses and faults. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export class FaultyServer {
  readonly url: string
  readonly requests: ReadonlyArray<IncomingMessage>
  readonly #close: () => Promise<void>

  private constructor(url: string, requests: ReadonlyArray<IncomingMessage>, close: () => Promise<void>) {
    this.url = url
    this.requests = requests
    this.#close = close
  }

  /** Starts a server. Each request gets the next response, and later ones get the last. */
  static start(...answers: ReadonlyArray<Answer>): Promise<FaultyServer> {
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
        resolve(new FaultyServer(`http://127.0.0.1:${port}`, requests, close))
      })
    })
  }

  /** The `Last-Event-ID` headers of the requests. */
  get lastIds(): ReadonlyArray<string | undefined> {
    return this.requests.map(({ headers }) => headers["last-event-id"]?.toString())
  }

  close(): Promise<void> {
    return this.#close()
  }
}

const begin = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { "content-type": "text/event-stream" })

/** Sends the text, then ends the response like a real server. */
export const respondWith =
  (text: string): Answer =>
  (response) => {
    begin(response).end(text)
  }

/** Sends the text, then disconnects. */
export const disconnectAfter =
  (text: string): Answer =>
  (response) => {
    begin(response).write(text, () => setTimeout(() => response.socket?.destroy(), 10))
  }

/** Sends the text, then nothing more. */
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
