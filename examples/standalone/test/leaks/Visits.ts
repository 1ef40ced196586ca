/** A client that records all responses. */
import type { Canary } from "./Canary.ts"

export interface Visit {
  readonly request: string
  readonly status: number
  /** Status, headers and body. */
  readonly bytes: Buffer
  /** Canaries that this response contains by design. */
  readonly shows: ReadonlyArray<string>
}

export interface RequestOptions {
  readonly token?: string
  readonly json?: unknown
  readonly body?: RequestInit["body"]
  readonly headers?: Readonly<Record<string, string>>
  readonly shows?: ReadonlyArray<string>
}

export class Visits {
  readonly all: Array<Visit> = []
  readonly canaries: Array<Canary> = []
  readonly #url: string

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request and returns its parsed body; undefined if the body is not JSON. */
  async request(
    method: string,
    path: string,
    options: RequestOptions = {}
  ): Promise<{ status: number; json: unknown }> {
    const { token, json, body = json === undefined ? undefined : JSON.stringify(json), headers = {} } = options
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body })
    })
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    const bytes = isStream ? Buffer.alloc(0) : Buffer.from(await response.arrayBuffer())
    if (isStream) await response.body?.cancel()
    const head = `${response.status} ${response.statusText} ${JSON.stringify([...response.headers])}\n`
    this.all.push({
      request: `${method} ${path}`,
      status: response.status,
      bytes: Buffer.concat([Buffer.from(head), bytes]),
      shows: options.shows ?? []
    })
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true && bytes.length > 0
    return { status: response.status, json: isJson ? JSON.parse(bytes.toString("utf8")) : undefined }
  }
}
