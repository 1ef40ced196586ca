/** A client of Server-Sent Events that keeps all blocks, including comments. */
import { assert } from "@effect/vitest"
import type { TestServer } from "../server/TestServer.ts"

export interface SseMessage {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: ReturnType<typeof JSON.parse>
  /** The raw block. */
  readonly text: string
}

export interface SubscribeOptions {
  readonly token?: string
  readonly json?: unknown
  readonly after?: string
}

const timeoutMs = 10_000

export class SseClient {
  readonly response: Response
  /** Blocks with data. */
  readonly messages: Array<SseMessage> = []
  readonly comments: Array<string> = []
  isOver = false
  readonly #abort: AbortController
  #changed: () => void = () => undefined

  private constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#abort = abort
    void this.#read()
  }

  /** Sends GET, or POST with `json`. Fails unless the response is an event stream. */
  static async open(server: TestServer, path: string, options: SubscribeOptions = {}): Promise<SseClient> {
    return SseClient.at(server.listening.url, options.token ?? server.token, path, options)
  }

  static async at(base: string, token: string, path: string, options: SubscribeOptions = {}): Promise<SseClient> {
    const abort = new AbortController()
    const { json, after } = options
    const response = await fetch(`${base}${path}`, {
      signal: abort.signal,
      method: json === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${token}`,
        accept: "text/event-stream",
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(after === undefined ? {} : { "last-event-id": after })
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) })
    })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(response.headers.get("content-type"), "text/event-stream")
    return new SseClient(response, abort)
  }

  /** Waits until the received blocks satisfy the condition. */
  async until(condition: (messages: ReadonlyArray<SseMessage>) => boolean): Promise<ReadonlyArray<SseMessage>> {
    const end = Date.now() + timeoutMs
    while (!condition(this.messages)) {
      if (Date.now() > end) throw new Error(`The messages did not arrive in time: ${this.names().join(" ")}`)
      await this.#change()
    }
    return this.messages
  }

  async untilEnded(): Promise<ReadonlyArray<SseMessage>> {
    const end = Date.now() + timeoutMs
    while (!this.isOver) {
      if (Date.now() > end) throw new Error("The stream did not end in time")
      await this.#change()
    }
    return this.messages
  }

  names(): ReadonlyArray<string> {
    return this.messages.map(({ event }) => event ?? "")
  }

  of(event: string): ReadonlyArray<SseMessage> {
    return this.messages.filter((one) => one.event === event)
  }

  close(): void {
    this.#abort.abort()
  }

  #change(): Promise<unknown> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 100)
      this.#changed = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
  }

  async #read(): Promise<void> {
    let rest = ""
    try {
      for await (const text of (this.response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        const blocks = `${rest}${text}`.split("\n\n")
        rest = blocks.pop() ?? ""
        for (const block of blocks) this.#hear(block)
        this.#changed()
      }
    } catch {
      // Closed by the client or the server.
    }
    this.isOver = true
    this.#changed()
  }

  #hear(text: string): void {
    const field = (name: string) => text.match(new RegExp(`^${name}: (.*)$`, "m"))?.[1]
    const data = field("data")
    if (data === undefined) this.comments.push(text)
    else this.messages.push({ id: field("id"), event: field("event"), data: JSON.parse(data), text })
  }
}
