/** A valid request, for the tests of permissions. */
import type { ApiKey } from "@weft/core/adapter"
import type { CallOptions } from "./TestServer.ts"

export interface GoodRequest {
  readonly method: string
  readonly path: () => string
  readonly options?: () => CallOptions
  /** Prepares the request, once. `key` is the API key of the request or of its credential, whose secret is `token`. */
  readonly before?: (key: ApiKey, token: string) => Promise<unknown>
  readonly status: number
  /** An additional required permission. */
  readonly besides?: Readonly<Record<string, ReadonlyArray<string>>>
  /** A permission path that covers exactly this request, or `*`. */
  readonly exact: string
}

/** The resources of the requests: a deployed build of the project `shop`, and an event that it handled. */
export interface Made {
  readonly build: string
  readonly event: string
  readonly run: string
  readonly stream: string
}

export const get = (path: () => string, exact: string, status = 200): GoodRequest => ({
  method: "GET",
  path,
  exact,
  status
})
