/** The requests that a client sends, looked at and disturbed on their way. */

export interface SentRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly url: URL
  readonly headers: Headers
}

/** What happens to a request instead of being sent; `pass` sends it. */
export type Fate =
  | "pass"
  /** It does not reach the server. */
  | "lost"
  /** The server does what it says, but the answer does not come back. */
  | "unanswered"
  /** Nothing happens until it is given up. */
  | "stuck"
  | Response

const sentOf = (input: string | URL | Request, init: RequestInit | undefined): SentRequest => {
  const url = new URL(input instanceof Request ? input.url : input)
  return { method: init?.method ?? "GET", path: url.pathname, url, headers: new Headers(init?.headers) }
}

export class Requests {
  readonly sent: Array<SentRequest> = []
  /** Decides what happens to each. */
  fate: (request: SentRequest) => Fate = () => "pass"
  /** How many are under way. */
  underWay = 0
  mostUnderWay = 0

  readonly fetch: typeof fetch = async (input, init) => {
    const request = sentOf(input, init)
    this.sent.push(request)
    this.underWay++
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay)
    try {
      return await this.#meet(this.fate(request), input, init)
    } finally {
      this.underWay--
    }
  }

  /** Fates in the order of requests that match; `pass` for all others. */
  disturb(matches: (request: SentRequest) => boolean, ...fates: ReadonlyArray<Fate>): void {
    const left = [...fates]
    this.fate = (request) => (matches(request) ? (left.shift() ?? "pass") : "pass")
  }

  of(method: string, path: string): ReadonlyArray<SentRequest> {
    return this.sent.filter((request) => request.method === method && request.path === path)
  }

  async #meet(fate: Fate, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    if (fate instanceof Response) return fate
    if (fate === "lost") throw new TypeError("fetch failed")
    if (fate === "stuck") {
      return new Promise((_, reject) => {
        const giveUp = () => reject(init?.signal?.reason)
        if (init?.signal?.aborted === true) giveUp()
        init?.signal?.addEventListener("abort", giveUp, { once: true })
      })
    }
    const response = await fetch(input, init)
    if (fate === "pass") return response
    await response.arrayBuffer()
    throw new TypeError("terminated")
  }
}

export const failing = (status: number, headers: Record<string, string> = {}, code = "internal_server_error") =>
  new Response(JSON.stringify({ error: { code, message: `It is ${status}`, request_id: "r-1" } }), { status, headers })
