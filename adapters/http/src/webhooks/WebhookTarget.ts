/**
 * Parser of webhook URLs: `/webhook/{org}/{env}/{service}/{path}?{query}`, or on custom domains
 * `/webhook/{service}/{path}?{query}`. Only the query is percent-decoded.
 */
import type { DomainRoute } from "@weft/core/adapter"

export const webhookPrefix = "/webhook/"

/** Route of all webhooks in metrics and spans, because the paths belong to tenants. */
export const webhookRoute = "/webhook"

/**
 * The next step of a call. `Invoke` runs the function without a body. `ReadBody` reads a body of known length first, and
 * `CountBody` one of unknown length. `RefuseBody` rejects a body above the maximum size, after the check of the caller.
 */
export type BodyStep = "Invoke" | "ReadBody" | "CountBody" | "RefuseBody"

/** The endpoint that a URL names, and the next step. One object, because each call on the fast path allocates it. */
export interface WebhookTarget {
  readonly _tag: BodyStep
  /** True if the host is no custom domain. */
  readonly isShared: boolean
  readonly org: string
  readonly env: string
  readonly service: string
  /** With its leading `/`. */
  readonly path: string
  /** The whole path, without the query. */
  readonly url: string
  /** The last value of each name. */
  readonly query: Readonly<Record<string, string>>
}

const noQuery: Readonly<Record<string, string>> = Object.freeze({})

/** Returns null for a URL without all three names. */
export const parseWebhookTarget = (target: string, step: BodyStep): WebhookTarget | null => {
  const mark = target.indexOf("?")
  const url = mark === -1 ? target : target.slice(0, mark)
  const afterOrg = url.indexOf("/", webhookPrefix.length)
  if (afterOrg <= webhookPrefix.length) return null
  const afterEnv = url.indexOf("/", afterOrg + 1)
  if (afterEnv <= afterOrg + 1) return null
  const org = url.slice(webhookPrefix.length, afterOrg)
  return parseServiceAndPath(step, true, org, url.slice(afterOrg + 1, afterEnv), url, afterEnv + 1, target, mark)
}

/** Like `parseWebhookTarget`, on the host of a custom domain. Returns null for a URL without a service. */
export const parseDomainTarget = (target: string, route: DomainRoute, step: BodyStep): WebhookTarget | null => {
  const mark = target.indexOf("?")
  const url = mark === -1 ? target : target.slice(0, mark)
  const start = webhookPrefix.length
  return parseServiceAndPath(step, false, route.org_slug, route.env_name, url, start, target, mark)
}

/** Parses from index `start`, where the service begins. `mark` is the index of the `?`, or -1. */
const parseServiceAndPath = (
  step: BodyStep,
  isShared: boolean,
  org: string,
  env: string,
  url: string,
  start: number,
  target: string,
  mark: number
): WebhookTarget | null => {
  const slash = url.indexOf("/", start)
  const end = slash === -1 ? url.length : slash
  if (end === start) return null
  return {
    _tag: step,
    isShared,
    org,
    env,
    service: url.slice(start, end),
    path: slash === -1 ? "/" : url.slice(slash),
    url,
    query: mark === -1 || mark === target.length - 1 ? noQuery : parseQuery(target.slice(mark + 1))
  }
}

const parseQuery = (text: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(text))

/** Methods of webhook endpoints. Requests with other methods get 404. */
export const webhookMethods: ReadonlySet<string> = new Set(["GET", "PUT", "PATCH", "DELETE", "POST"])
