/** Options of the MCP routes. */
export interface McpOptions {
  /**
   * Origins of web pages that may send MCP messages, such as `https://app.example.com`, in addition to that of
   * `publicUrl`. Requests of other web pages get 403. Programs send no `Origin` and are not affected.
   */
  readonly origins?: ReadonlyArray<string>
  /**
   * Issuer URLs of OAuth authorization servers whose access tokens are credentials of Weft, at most 16. With them, Weft
   * publishes protected resource metadata (RFC 9728), so that clients log in by the URL of a service alone.
   */
  readonly authorizationServers?: ReadonlyArray<string>
  /**
   * True to offer the tool `run_code` in every service, to callers with the permission `eval: execute`. It runs code that
   * uses the other tools; false by default.
   */
  readonly runCode?: boolean
}

export type McpSettings = Required<McpOptions>

const serversMax = 16

/** Throws a `TypeError` for an invalid URL. */
export const resolveMcp = ({ origins = [], authorizationServers = [], runCode = false }: McpOptions): McpSettings => {
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      throw new TypeError(
        `\`mcp.origins\` must be origins, as in "https://app.example.com" (got ${JSON.stringify(origin)})`
      )
    }
  }
  if (authorizationServers.length > serversMax) {
    throw new TypeError(
      `\`mcp.authorizationServers\` must have at most ${serversMax} URLs (got ${authorizationServers.length})`
    )
  }
  for (const server of authorizationServers) {
    if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol)) {
      throw new TypeError(
        `\`mcp.authorizationServers\` must be URLs, as in "https://auth.example.com" (got ${JSON.stringify(server)})`
      )
    }
  }
  return { origins, authorizationServers, runCode }
}
