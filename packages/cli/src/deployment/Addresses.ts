/** Where webhooks and tools are to be found. */
import type { WeftClient } from "@weft/client"
import type { Asking } from "../connection/Api.ts"
import type { Offered } from "./Offer.ts"

/** What addresses in an environment begin with. */
export interface Addresses {
  readonly url: string
  readonly org: string
  readonly env: string
}

export const addressesAt =
  (url: string) =>
  async (weft: WeftClient, asking: Asking): Promise<Addresses> => {
    const { org_slug, name } = await weft.env.get(asking)
    return { url, org: org_slug, env: name }
  }

/** The URL of a webhook, or of the service that a tool is of; null of anything else. */
export const addressOf = ({ url, org, env }: Addresses, { kind, name }: Offered): string | null => {
  if (kind === "webhook") return `${url}/webhook/${org}/${env}${name.replace(/^\w+ /, "")}`
  return kind === "tool" ? `${url}/mcp/${org}/${env}/${name.replace(/\/.*$/, "")}` : null
}
