/** What arrives at a webhook route and what goes back, transport-free. */

export interface WebhookCall {
  readonly org: string
  readonly env: string
  readonly service: string
  /** What follows the service in the URL, as sent, with its leading `/`. */
  readonly path: string
  readonly method: string
  /** The whole path of the request, without the query. */
  readonly url: string
  /** A name that is repeated has its last value. */
  readonly query: Readonly<Record<string, string>>
  /** Lowercase names; repeated headers joined as HTTP allows. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** The address of the socket. */
  readonly remoteIp: string
  /** The bearer token, if one was sent. */
  readonly token: string | null
}

export interface WebhookAnswer {
  /** 200 to 599. */
  readonly status: number
  /** Lowercase names; fit to send. Only `set-cookie` may have several values, each a header of its own. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body: string | Uint8Array
}
