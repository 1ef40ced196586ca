/**
 * Rules for the shared origin. On a host that is no custom domain, the webhooks of all tenants and the documentation page
 * are one origin to browsers. A function's response must not affect the others.
 */

/** Headers that browsers apply to a whole origin, or that give a page access to other pages. Lowercase. */
export const originHeaders: ReadonlyArray<string> = [
  "accept-ch",
  "alt-svc",
  "clear-site-data",
  "critical-ch",
  // A page with the same policy as `/docs` could keep a reference to the window in which it opens `/docs`.
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

/** True if a browser requests the script of a service worker, which could intercept requests to the whole origin. */
export const isServiceWorkerRequest = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers["service-worker"] !== undefined
