/** Redirects according to the Fetch standard. */
import { EgressFailed, type EgressRequest, type EgressUpload, type HeaderList } from "@weft/core/adapter"
import { Result } from "effect"

/** A request on its context: what may change from one redirect to the next. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: HeaderList
  readonly body: EgressRequest["body"]
}

const redirects = new Set([301, 302, 303, 307, 308])

/** Headers that describe a body, and are removed with it. */
const bodyHeaders = new Set(["content-encoding", "content-language", "content-location", "content-type"])

/** Headers that are sent only to the first origin. */
const confidential = new Set(["authorization", "cookie", "proxy-authorization"])

/** Returns the target of a redirect, or null for other responses. */
export const redirectTarget = (status: number, location: string | undefined): string | null =>
  redirects.has(status) && location !== undefined ? location : null

export const nextHop = (hop: Hop, status: number, location: string): Result.Result<Hop, EgressFailed> => {
  const url = URL.parse(location, hop.url.href)
  if (url === null) return failed("the response redirects to an invalid URL")
  if (url.username !== "" || url.password !== "") return failed("the response redirects to a URL with credentials")
  if (url.hash === "") url.hash = hop.url.hash
  const kept = url.origin === hop.url.origin ? hop.headers : without(hop.headers, confidential)
  if (becomesGet(hop.method, status)) {
    const method = hop.method === "HEAD" ? "HEAD" : "GET"
    return Result.succeed({ url, method, headers: without(kept, bodyHeaders), body: null })
  }
  if (isUpload(hop.body))
    return failed("the response redirects a request with a streamed body, which cannot be sent again")
  return Result.succeed({ url, method: hop.method, headers: kept, body: hop.body })
}

export const isUpload = (body: EgressRequest["body"]): body is EgressUpload =>
  body !== null && !(body instanceof Uint8Array)

const becomesGet = (method: string, status: number): boolean =>
  ((status === 301 || status === 302) && method === "POST") || (status === 303 && method !== "GET" && method !== "HEAD")

const without = (headers: HeaderList, names: ReadonlySet<string>): HeaderList =>
  headers.filter(([name]) => !names.has(name))

const failed = (reason: string) => Result.fail(new EgressFailed({ reason }))
