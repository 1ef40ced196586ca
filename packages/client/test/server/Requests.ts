/** Records and intercepts the requests of a client. */

export interface SentRequest {
  readonly method: string
  /** The path without the query. */
  readonly path: string
  readonly url: URL
  readonly headers: Headers
}

/** The result of a request instead of sending it. `pass` sends it. */
export type Interception =
  | "pass"
  /** The request does not reach the server. */
  | "lost"
  /** The server processes the request, but the response is lost. */
  | "unanswered"
  /** Nothing happens until the request is aborted. */
  | "stuck"
  | Response

const sentOf = (input: string | URL | Request, init: RequestInit | undefined): SentRequest => {
  const url = new URL(input instanceof Request ? input.url : input)
  return { method: init?.method ?? "GET", path: url.pathname, url, headers: new Headers(init?.headers) }
}

export class Requests {
  readonly sent: Array<SentRequest> = []
  /** Decides on each request. */
  intercept: (request: SentRequest) => Interception = () => "pass"
  /** Number of requests in flight. */
  underWay = 0
  mostUnderWay = 0

  readonly fetch: typeof fetch = async (input, init) => {
    const request = sentOf(input, init)
    this.sent.push(request)
    this.underWay++
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay)
    try {
      return await this.#meet(this.intercept(request), input, init)
    } finally {
      this.underWay--
    }
  }

  /** Sets the results of the next matching requests, and `pass` for all others. */
  interceptNext(matches: (request: SentRequest) => boolean, ...fates: ReadonlyArray<Interception>): void {
    const left = [...fates]
    this.intercept = (request) => (matches(request) ? (left.shift() ?? "pass") : "pass")
  }

  of(method: string, path: string): ReadonlyArray<SentRequest> {
    return this.sent.filter((request) => request.method === method && request.path === path)
  }

  async #meet(intercept: Interception, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    if (intercept instanceof Response) return intercept
    if (intercept === "lost") throw new TypeError("fetch failed")
    if (intercept === "stuck") {
      return new Promise((_, reject) => {
        const giveUp = () => reject(init?.signal?.reason)
        if (init?.signal?.aborted === true) giveUp()
        init?.signal?.addEventListener("abort", giveUp, { once: true })
      })
    }
    const response = await fetch(input, init)
    if (intercept === "pass") return response
    await response.arrayBuffer()
    throw new TypeError("terminated")
  }
}

export const failing = (status: number, headers: Record<string, string> = {}, code = "internal_server_error") =>
  new Response(JSON.stringify({ error: { code, message: `It is ${status}`, request_id: "r-1" } }), { status, headers })
