/**
 * The page of a token for people. `GET` never completes a token, because scanners of mail follow links: its button does.
 * The page needs no script, and loads nothing.
 */
import { HttpServerResponse } from "effect/http"

const headers = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // Pages of tenants' webhooks share this origin. They must not get a reference to this page's window.
  "cross-origin-opener-policy": "same-origin",
  // The URL is a secret.
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex, nofollow"
}

/** Returns the page of a token that may be completed. `name` is text of a tenant. */
export const openPage = (name: string): HttpServerResponse.HttpServerResponse =>
  respond(200, name, '<form method="post"><button type="submit">Confirm</button></form>')

/** Returns the page after a completion. */
export const donePage = (name: string): HttpServerResponse.HttpServerResponse =>
  respond(200, name, "<p>Confirmed. You may close this page.</p>")

/** Returns the page for a token that cannot be completed. `message` is that of the error. */
export const refusedPage = (status: number, message: string): HttpServerResponse.HttpServerResponse =>
  respond(status, "Not available", `<p>${escape(message)}.</p>`)

const respond = (status: number, title: string, body: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex, nofollow">
<title>${escape(title)}</title>
</head>
<body>
<h1>${escape(title)}</h1>
${body}
</body>
</html>
`,
    { status, headers, contentType: "text/html; charset=utf-8" }
  )

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? "")
