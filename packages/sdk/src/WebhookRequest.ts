/** What webhooks get and give. Types only. */

/** By name; the last value of a name that is repeated. */
export type Query = Readonly<Record<string, string | undefined>>

export interface WebhookRequest<Body = unknown, Q = Query> {
  readonly method: string
  /** The path as it was sent, without the query. */
  readonly url: string
  /** By lowercase name; repeated ones joined. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: Q
  /** The value of JSON or of a form, the text of a text; null without a body, and for what is none of these. */
  readonly body: Body
  /** The text, or base64 of what is no text; empty without a body. */
  readonly "body-raw": string
  readonly ip: string
  /** With `auth: "required"`. */
  readonly auth?: RequestAuth
}

/** Who called, under the name of the credential's type: `auth["service-key"].meta`. */
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
  /** 200 to 599. */
  readonly status: number
  /** The values of an array are joined by commas; those of `set-cookie` are headers of their own. */
  readonly headers?: Readonly<
    Record<string, string | number | boolean | ReadonlyArray<string | number> | null | undefined>
  >
  /** Sent as JSON, unless the content type is another: then a string or bytes are sent as they are. */
  readonly body?: unknown
}

/** A response, or any value without a `status`: that is 200 with the value as JSON. */
export type WebhookResult =
  | WebhookResponse
  | Response
  | (object & { readonly status?: never })
  | string
  | number
  | boolean
  | null
  | undefined
