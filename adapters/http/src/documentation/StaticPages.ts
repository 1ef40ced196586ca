/**
 * The public pages, which do not change while the server runs: with an `ETag`, `304` for clients that have them, and
 * compressed once per coding.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type ContentCoding, chooseCoding } from "../encoding/AcceptEncoding.ts"
import { codings, compress } from "../encoding/Compressor.ts"
import { evaluatePreconditions } from "../files/Preconditions.ts"
import { withVary } from "../responses/Compression.ts"

const staticPages: ReadonlySet<string> = new Set(["/docs", "/v1/openapi.json"])

export const isStaticPage = (url: string): boolean => staticPages.has(url.split("?", 1)[0] ?? url)

type Response = HttpServerResponse.HttpServerResponse

interface Page {
  readonly hash: string
  readonly compressed: Map<ContentCoding, Promise<Uint8Array>>
}

/** Wraps the app: the public pages are cached by clients and compressed. */
export const withStaticPages = <E, R>(app: Effect.Effect<Response, E, R>) => {
  const pages = new WeakMap<Uint8Array, Page>()
  const pageOf = (bytes: Uint8Array): Page => {
    const known = pages.get(bytes)
    if (known !== undefined) return known
    const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22)
    const page: Page = { hash, compressed: new Map() }
    pages.set(bytes, page)
    return page
  }
  const compressed = ({ compressed }: Page, bytes: Uint8Array, coding: ContentCoding): Promise<Uint8Array> => {
    const known = compressed.get(coding) ?? compress(bytes, coding, "best")
    compressed.set(coding, known)
    return known
  }

  const respond = (response: Response, headers: HttpServerRequest.HttpServerRequest["headers"]) => {
    const { body } = response
    if (body._tag !== "Uint8Array" || response.status !== 200) return Effect.succeed(response)
    const page = pageOf(body.body)
    const coding = chooseCoding(headers["accept-encoding"], codings)
    // Each coding is a representation of its own.
    const etag = `"${page.hash}${coding === null ? "" : `-${coding}`}"`
    const cached = HttpServerResponse.setHeaders(response, {
      etag,
      "cache-control": "no-cache",
      vary: withVary(response.headers.vary)
    })
    if (evaluatePreconditions(headers, { etag, modifiedAt: null }) === "Unmodified") {
      const { "content-length": _, ...kept } = cached.headers
      return Effect.succeed(HttpServerResponse.empty({ status: 304, headers: kept }))
    }
    if (coding === null) return Effect.succeed(cached)
    return Effect.map(
      Effect.promise(() => compressed(page, body.body, coding)),
      (bytes) =>
        HttpServerResponse.setBody(cached, HttpBody.uint8Array(bytes, body.contentType)).pipe(
          HttpServerResponse.setHeader("content-encoding", coding)
        )
    )
  }

  return Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method, url }) =>
    method === "GET" && isStaticPage(url) ? Effect.flatMap(app, (response) => respond(response, headers)) : app
  )
}
