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

/**
 * Policy of pages of webhooks next to the console: an origin of their own, without cookies. Such a page could otherwise
 * send requests as the person who is signed in. The rest of the policy is the function's.
 */
const sandbox = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts"

/** Media types that browsers never show as a page. */
const inert = /^(application\/json|text\/plain|text\/event-stream|image\/(?!svg)|audio\/|video\/)/i

/** Adds the sandbox to the headers of a response that a browser may show as a page. */
export const addSandbox = (headers: Record<string, string>): void => {
  if (inert.test(headers["content-type"] ?? "")) return
  const own = headers["content-security-policy"]
  headers["content-security-policy"] = own === undefined ? sandbox : `${own}, ${sandbox}`
}

/** True if a browser requests the script of a service worker, which could intercept requests to the whole origin. */
export const isServiceWorkerRequest = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers["service-worker"] !== undefined
