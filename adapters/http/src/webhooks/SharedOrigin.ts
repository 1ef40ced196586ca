/**
 * To browsers, a host that is no custom domain is one origin: of the webhooks of all tenants, and of the page of
 * documentation. What a function answers there counts for itself, and not for the others.
 */

/** Headers that browsers take for a whole origin, or by which a page could get at pages of others. Lowercase. */
export const originHeaders: ReadonlyArray<string> = [
  "accept-ch",
  "alt-svc",
  "clear-site-data",
  "critical-ch",
  // A page with the policy of the documentation's could keep hold of the window that it opens that one in.
  "cross-origin-opener-policy",
  "expect-ct",
  "nel",
  "origin-agent-cluster",
  "public-key-pins",
  "public-key-pins-report-only",
  "report-to",
  "reporting-endpoints",
  "sec-session-registration",
  "secure-session-registration",
  "service-worker-allowed",
  "set-login",
  "strict-transport-security",
  "use-as-dictionary"
]

/** Whether a browser asks for the script of a service worker, which could answer for the server with any header. */
export const asksForServiceWorker = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers["service-worker"] !== undefined
