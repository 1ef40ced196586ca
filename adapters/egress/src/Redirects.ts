/** Redirects as the Fetch standard follows them. */
import { EgressFailed, type EgressRequest, type EgressUpload, type HeaderList } from "@weft/core"
import { Result } from "effect"

/** A request on its way: what may change from one redirect to the next. */
export interface Hop {
  readonly url: URL
  readonly method: string
  readonly headers: HeaderList
  readonly body: EgressRequest["body"]
}

const redirects = new Set([301, 302, 303, 307, 308])

/** Headers that describe a body, and go when it goes. */
const bodyHeaders = new Set(["content-encoding", "content-language", "content-location", "content-type"])

/** Headers that are for one origin and nobody else. */
const confidential = new Set(["authorization", "cookie", "proxy-authorization"])

/** Where the response sends its client; null when it is no redirect. */
export const redirectTarget = (status: number, location: string | undefined): string | null =>
  redirects.has(status) && location !== undefined ? location : null

export const nextHop = (hop: Hop, status: number, location: string): Result.Result<Hop, EgressFailed> => {
  const url = URL.parse(location, hop.url.href)
  if (url === null) return failed("the response redirects to what is no URL")
  if (url.username !== "" || url.password !== "") return failed("the response redirects to a URL with credentials")
  if (url.hash === "") url.hash = hop.url.hash
  const kept = url.origin === hop.url.origin ? hop.headers : without(hop.headers, confidential)
  if (becomesGet(hop.method, status)) {
    const method = hop.method === "HEAD" ? "HEAD" : "GET"
    return Result.succeed({ url, method, headers: without(kept, bodyHeaders), body: null })
  }
  if (isUpload(hop.body)) return failed("the response redirects a request whose body was streamed")
  return Result.succeed({ url, method: hop.method, headers: kept, body: hop.body })
}

export const isUpload = (body: EgressRequest["body"]): body is EgressUpload =>
  body !== null && !(body instanceof Uint8Array)

const becomesGet = (method: string, status: number): boolean =>
  ((status === 301 || status === 302) && method === "POST") || (status === 303 && method !== "GET" && method !== "HEAD")

const without = (headers: HeaderList, names: ReadonlySet<string>): HeaderList =>
  headers.filter(([name]) => !names.has(name))

const failed = (reason: string) => Result.fail(new EgressFailed({ reason }))
