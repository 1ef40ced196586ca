/**
 * What a webhook URL names: `/webhook/{org}/{env}/{service}/{path}?{query}`, or, where the host is a custom domain,
 * `/webhook/{service}/{path}?{query}`. Nothing is decoded but the query.
 */
import type { DomainRoute } from "@weft/core"

export const webhookPrefix = "/webhook/"

/** What requests to webhooks are counted as: the paths are the tenants' own. */
export const webhookRoute = "/webhook"

export interface WebhookTarget {
  readonly org: string
  readonly env: string
  readonly service: string
  /** With its leading `/`. */
  readonly path: string
  /** The whole path, without the query. */
  readonly url: string
  /** A name that is repeated has its last value. */
  readonly query: Readonly<Record<string, string>>
}

const noQuery: Readonly<Record<string, string>> = Object.freeze({})

/** Null for a URL that has not all three names. */
export const parseWebhookTarget = (target: string): WebhookTarget | null => {
  const mark = target.indexOf("?")
  const url = mark === -1 ? target : target.slice(0, mark)
  const afterOrg = url.indexOf("/", webhookPrefix.length)
  if (afterOrg <= webhookPrefix.length) return null
  const afterEnv = url.indexOf("/", afterOrg + 1)
  if (afterEnv <= afterOrg + 1) return null
  const org = url.slice(webhookPrefix.length, afterOrg)
  return endOfTarget(org, url.slice(afterOrg + 1, afterEnv), url, afterEnv + 1, target, mark)
}

/** As `parseWebhookTarget`, on the host of a custom domain. Null for a URL that names no service. */
export const parseDomainTarget = (target: string, route: DomainRoute): WebhookTarget | null => {
  const mark = target.indexOf("?")
  const url = mark === -1 ? target : target.slice(0, mark)
  return endOfTarget(route.org_slug, route.env_name, url, webhookPrefix.length, target, mark)
}

/** The service begins at `start`; the query, if there is one, after `mark`. */
const endOfTarget = (
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
    org,
    env,
    service: url.slice(start, end),
    path: slash === -1 ? "/" : url.slice(slash),
    url,
    query: mark === -1 || mark === target.length - 1 ? noQuery : parseQuery(target.slice(mark + 1))
  }
}

const parseQuery = (text: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(text))

/** The methods that an endpoint may have; every other one is a route that does not exist. */
export const webhookMethods: ReadonlySet<string> = new Set(["GET", "PUT", "PATCH", "DELETE", "POST"])
