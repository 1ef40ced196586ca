/** The console's page and its files. They contain no data of a tenant, so everybody may load them. */
import { NotFound } from "@weft/core"
import { Effect } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { withRoute } from "../tracing/RequestSpan.ts"
import type { ConsoleAssets, ConsoleFile, Encoding } from "./ConsoleAssets.ts"
import { consolePrefix, consoleRoute, relativeBase } from "./ConsolePath.ts"

type ServerRequest = HttpServerRequest.HttpServerRequest

const pageHeaders = (embeddedIn: ReadonlyArray<string>) => ({
  "cache-control": "no-cache",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    `frame-ancestors ${embeddedIn.length === 0 ? "'none'" : embeddedIn.join(" ")}`
  ].join("; "),
  // Pages of tenants' webhooks share this origin. They must not get a reference to this page's window.
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // It cannot name origins, so it is left out for pages that may be in a frame.
  ...(embeddedIn.length === 0 ? { "x-frame-options": "DENY" } : {}),
  "x-robots-tag": "noindex, nofollow"
})

const assetsPrefix = `${consolePrefix}/assets/`

/** `embeddedIn` are the origins whose pages may show the console in a frame. */
export const consolePageRoutes = (assets: ConsoleAssets, embeddedIn: ReadonlyArray<string>) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      yield* router.add("GET", `${assetsPrefix}*`, (request) =>
        withRoute(consoleRoute, respondWithFile(assets, request))
      )
      const headers = pageHeaders(embeddedIn)
      // Also matches the path without a slash at the end.
      yield* router.add("GET", `${consolePrefix}/*`, (request) =>
        withRoute(consoleRoute, respondWithPage(assets, request, headers))
      )
    })
  )

const respondWithPage = Effect.fnUntraced(function* (
  assets: ConsoleAssets,
  request: ServerRequest,
  common: ReturnType<typeof pageHeaders>
) {
  const page = yield* Effect.promise(() => assets.page(relativeBase(request.url)))
  if (page === null) return HttpServerResponse.text(notBuilt, { status: 503 })
  const headers = { ...common, etag: page.etag }
  if (request.headers["if-none-match"]?.includes(page.etag) === true) {
    return HttpServerResponse.empty({ status: 304, headers })
  }
  return HttpServerResponse.text(page.html, { headers, contentType: "text/html; charset=utf-8" })
})

const respondWithFile = Effect.fnUntraced(function* (assets: ConsoleAssets, request: ServerRequest) {
  const name = (request.url.split("?", 1)[0] ?? "").slice(assetsPrefix.length)
  const file = yield* Effect.promise(() => assets.file(name))
  if (file === null) return yield* new NotFound({ resource: "file of the console" })
  const encoding = acceptedEncoding(file, request.headers["accept-encoding"])
  return HttpServerResponse.uint8Array((encoding === null ? undefined : file.encoded.get(encoding)) ?? file.bytes, {
    contentType: file.contentType,
    headers: {
      // The name contains a hash of the content.
      "cache-control": "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      vary: "accept-encoding",
      "x-content-type-options": "nosniff",
      ...(encoding === null ? {} : { "content-encoding": encoding })
    }
  })
})

/** Returns the smallest copy that the client accepts, or null for the original. */
const acceptedEncoding = ({ encoded }: ConsoleFile, accepted = ""): Encoding | null => {
  const names = new Set(accepted.split(",").map((part) => part.split(";")[0]?.trim().toLowerCase()))
  for (const encoding of ["br", "gzip"] as const) {
    if (names.has(encoding) && encoded.has(encoding)) return encoding
  }
  return null
}

const notBuilt = "The console is not built: run `npm run build -w packages/console`\n"
