/** What an MCP URL names: `/mcp/{org}/{env}/{service}`. Nothing is decoded. */

export const mcpRoute = "/mcp"

export interface McpTarget {
  readonly org: string
  readonly env: string
  readonly service: string
}

/** Null for a path that is not of three names. */
export const parseMcpTarget = (target: string): McpTarget | null => {
  const [path = ""] = target.split("?")
  const [empty, prefix, org = "", env = "", service = "", ...more] = path.split("/")
  const isTarget = empty === "" && prefix === "mcp" && org !== "" && env !== "" && service !== "" && more.length === 0
  return isTarget ? { org, env, service } : null
}
