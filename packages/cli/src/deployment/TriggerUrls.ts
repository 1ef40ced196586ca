/** URLs of webhooks and tools. */
import type { WeftClient } from "@weft/client"
import type { RequestOptions } from "../connection/Api.ts"
import type { EntryPoint } from "./EntryPoints.ts"

/** Common parts of all URLs of an environment. */
export interface UrlBase {
  readonly url: string
  readonly org: string
  readonly env: string
}

export const fetchUrlBase =
  (url: string) =>
  async (weft: WeftClient, options: RequestOptions): Promise<UrlBase> => {
    const { org_slug, name } = await weft.env.get(options)
    return { url, org: org_slug, env: name }
  }

const mcpKinds: ReadonlyArray<EntryPoint["kind"]> = ["tool", "resource", "prompt"]

/** Returns the URL of a webhook, or of the service of a tool, resource or prompt; null for other kinds. */
export const triggerUrl = ({ url, org, env }: UrlBase, { kind, name }: EntryPoint): string | null => {
  if (kind === "webhook") return `${url}/webhook/${org}/${env}${name.replace(/^\w+ /, "")}`
  return mcpKinds.includes(kind) ? `${url}/mcp/${org}/${env}/${name.replace(/\/.*$/, "")}` : null
}
