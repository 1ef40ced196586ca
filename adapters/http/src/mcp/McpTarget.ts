/** Parser of MCP URLs: `/mcp/{org}/{env}/{service}`. Names are not percent-decoded. */

export const mcpRoute = "/mcp"

export interface McpTarget {
  readonly org: string
  readonly env: string
  readonly service: string
}

/** Returns null for a path without exactly three names. */
export const parseMcpTarget = (target: string): McpTarget | null => {
  const [path = ""] = target.split("?")
  const [empty, prefix, org = "", env = "", service = "", ...more] = path.split("/")
  const isTarget = empty === "" && prefix === "mcp" && org !== "" && env !== "" && service !== "" && more.length === 0
  return isTarget ? { org, env, service } : null
}
