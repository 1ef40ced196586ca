/** OAuth 2.0 protected resource metadata of MCP services (RFC 9728). */
import { IncomingMessage } from "node:http"
import { TLSSocket } from "node:tls"
import type { HttpServerRequest } from "effect/http"
import type { McpSettings } from "./McpOptions.ts"
import { type McpTarget, parseMcpTarget } from "./McpTarget.ts"

export const metadataRoute = "/.well-known/oauth-protected-resource"

/** Returns the service whose metadata a path names, or null. */
export const parseMetadataTarget = (target: string): McpTarget | null =>
  target.startsWith(`${metadataRoute}/`) ? parseMcpTarget(target.slice(metadataRoute.length)) : null

const pathOf = ({ org, env, service }: McpTarget): string => `/mcp/${org}/${env}/${service}`

/** Returns the metadata. `base` is the URL of this host. */
export const describeProtectedResource = (base: string, target: McpTarget, { authorizationServers }: McpSettings) => ({
  resource: `${base}${pathOf(target)}`,
  authorization_servers: authorizationServers,
  bearer_methods_supported: ["header"],
  scopes_supported: [`mcp:${target.service}`],
  resource_name: `${target.service} (${target.org}/${target.env})`
})

/** Returns the challenge of a 401 or 403 response. */
export const challenge = (base: string, target: McpTarget, error: "insufficient_scope" | null): string => {
  const metadata = `resource_metadata="${base}${metadataRoute}${pathOf(target)}"`
  const scope = `scope="mcp:${target.service}"`
  return error === null ? `Bearer ${metadata}, ${scope}` : `Bearer error="${error}", ${scope}, ${metadata}`
}

/** Returns the URL of this host: the configured one, or that of the request. */
export const baseUrl = (
  publicUrl: string | null,
  request: HttpServerRequest.HttpServerRequest,
  trustProxy: boolean
): string => {
  if (publicUrl !== null) return publicUrl
  const { headers } = request
  const protocol = trustProxy ? headers["x-forwarded-proto"] : undefined
  const isSecure = protocol === undefined ? isEncrypted(request) : protocol === "https"
  const host = (trustProxy ? headers["x-forwarded-host"] : undefined) ?? headers.host ?? ""
  return `${isSecure ? "https" : "http"}://${/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host) ? host : "localhost"}`
}

/** True for a request over TLS, of Node or of fetch. */
const isEncrypted = ({ source }: HttpServerRequest.HttpServerRequest): boolean =>
  source instanceof IncomingMessage
    ? source.socket instanceof TLSSocket
    : source instanceof Request && source.url.startsWith("https:")
