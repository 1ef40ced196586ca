/** Request to a webhook route and its response, independent of transport. */

export interface WebhookCall {
  readonly org: string
  readonly env: string
  readonly service: string
  /** Path after the service in the URL, as sent, with its leading `/`. */
  readonly path: string
  readonly method: string
  /** The whole path of the request, without the query. */
  readonly url: string
  /** Parameters; a repeated name has its last value. */
  readonly query: Readonly<Record<string, string>>
  /** Headers with lowercase names. Repeated headers are joined as HTTP allows. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
  /** Remote address of the socket. */
  readonly remoteIp: string
  /** The bearer token, if one was sent. */
  readonly token: string | null
}

export interface WebhookAnswer {
  /** 200 to 599. */
  readonly status: number
  /** Headers with lowercase names, ready to send. Only `set-cookie` may have several values, each a separate header. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string>>>
  readonly body: string | Uint8Array
}
