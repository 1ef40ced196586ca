/**
 * `/docs`: the OpenAPI document for people, rendered by the Swagger UI that `effect` carries. The page is whole: it loads
 * nothing from anywhere, and its policy lets it talk to this server only.
 */
import { Effect } from "effect"
import { Base64 } from "effect/encoding"
import { HttpRouter, HttpServerResponse } from "effect/http"

const sha256 = async (text: string): Promise<string> =>
  Base64.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))))

/** Only the scripts that are in the page now may run in it. Swagger UI styles its elements one by one. */
const policyOf = async (html: string): Promise<string> => {
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
  // Two megabytes of script: not loaded before somebody asks.
  const { renderedHtml } = await import("./SwaggerUi.ts")
  const html = await renderedHtml()
  return HttpServerResponse.text(html, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": await policyOf(html),
      // Pages of tenants' webhooks are of the same origin: none of them has hold of the window that this is in.
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
