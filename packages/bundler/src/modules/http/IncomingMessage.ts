/** The response of a request of `node:http`, read from a `Response` of `fetch`. */
import { Readable } from "node:stream"
import type { Socket } from "./Socket.ts"
import { STATUS_CODES } from "./statusCodes.ts"

export class IncomingMessage extends Readable {
  readonly httpVersion = "1.1"
  readonly httpVersionMajor = 1
  readonly httpVersionMinor = 1
  readonly headers: Record<string, string | Array<string>> = {}
  readonly rawHeaders: Array<string> = []
  readonly trailers = {}
  readonly rawTrailers: ReadonlyArray<string> = []
  readonly socket: Socket
  statusCode: number | undefined
  statusMessage: string | undefined
  url = ""
  method: string | undefined
  aborted = false
  complete = false
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor(socket: Socket) {
    super({ autoDestroy: true })
    this.socket = socket
  }

  get connection(): Socket {
    return this.socket
  }

  get headersDistinct(): Record<string, Array<string>> {
    return Object.fromEntries(Object.entries(this.headers).map(([name, value]) => [name, [value].flat()]))
  }

  /** Takes status, headers and body of the response. */
  accept(response: Response): this {
    this.statusCode = response.status
    this.statusMessage = response.statusText === "" ? (STATUS_CODES[response.status] ?? "") : response.statusText
    for (const [name, value] of response.headers) {
      this.rawHeaders.push(name, value)
      if (name === "set-cookie") this.headers[name] = [...[this.headers[name] ?? []].flat(), value]
      else this.headers[name] = value
    }
    this.#reader = response.body?.getReader()
    return this
  }

  setTimeout(): this {
    return this
  }

  override _read(): void {
    const reader = this.#reader
    if (reader === undefined) {
      this.complete = true
      this.push(null)
      return
    }
    reader.read().then(
      ({ done, value }) => {
        this.complete = done
        this.push(done ? null : value)
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error)))
    )
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.complete) {
      this.aborted = true
      this.#reader?.cancel().catch(() => undefined)
    }
    done(error)
  }
}
