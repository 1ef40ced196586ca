/** Requests and responses of webhooks. Types only. */

/** Query parameters by name. A repeated name has its last value. */
export type Query = Readonly<Record<string, string | undefined>>

export interface WebhookRequest<Body = unknown, Q = Query> {
  readonly method: string
  /** The path as sent, without the query. */
  readonly url: string
  /** Headers by lowercase name; repeated ones are joined. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: Q
  /** Value of a JSON or form body, or the text of a text body; null for other types and without a body. */
  readonly body: Body
  /** Text of the body, or base64 if it is not text; empty without a body. */
  readonly "body-raw": string
  readonly ip: string
  /** The credential, with `auth: "required"`. */
  readonly auth?: RequestAuth
}

/** The credential of the caller, by its type: `auth["service-key"].meta`. */
export interface RequestAuth {
  readonly type: "api-key" | "service-key" | "session"
  readonly "api-key"?: CredentialFacts
  readonly "service-key"?: CredentialFacts
  readonly session?: CredentialFacts
}

export interface CredentialFacts {
  readonly id: string
  readonly meta: unknown
}

export interface WebhookResponse {
  /** Status, 200 to 599. */
  readonly status: number
  /** The values of an array are joined with commas, except `set-cookie`, where each becomes a header. */
  readonly headers?: Readonly<
    Record<string, string | number | boolean | ReadonlyArray<string | number> | null | undefined>
  >
  /** Sent as JSON. With another content type, a string or bytes are sent unchanged. */
  readonly body?: unknown
}

/** A response, or any value without a `status`, which is sent as JSON with status 200. */
export type WebhookResult =
  | WebhookResponse
  | Response
  | (object & { readonly status?: never })
  | string
  | number
  | boolean
  | null
  | undefined
