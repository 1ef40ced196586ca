/**
 * `/docs`: the OpenAPI document, rendered by the Swagger UI that `effect` includes. The page is self-contained: it loads
 * nothing from other servers, and its content security policy permits connections to this server only.
 */
import { Effect } from "effect"
import { Base64 } from "effect/encoding"
import { HttpRouter, HttpServerResponse } from "effect/http"

const sha256 = async (text: string): Promise<string> =>
  Base64.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))))

/** Permits only the page's own scripts, by hash. Inline styles are permitted, because Swagger UI sets them. */
const buildPolicy = async (html: string): Promise<string> => {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script)
  const hashes = await Promise.all(scripts.map(sha256))
  return [
    "default-src 'none'",
    `script-src ${hashes.map((hash) => `'sha256-${hash}'`).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const page = Effect.promise(async () => {
  // Loaded on the first request, because the script has two megabytes.
  const { renderedHtml } = await import("./SwaggerUi.ts")
  const html = await renderedHtml()
  // Bytes, so that no response encodes two megabytes of text.
  return HttpServerResponse.uint8Array(new TextEncoder().encode(html), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": await buildPolicy(html),
      // Pages of tenants' webhooks share this origin. They must not get a reference to this page's window.
      "cross-origin-opener-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer"
    }
  })
})

export const DocsPage = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/docs", yield* Effect.cached(page))
  })
)
