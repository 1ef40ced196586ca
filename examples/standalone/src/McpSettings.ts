/** Settings of the MCP routes. */
import { isHttpUrl, readList, readOrigins } from "./Lists.ts"

export interface McpSettings {
  readonly origins: ReadonlyArray<string>
  readonly authorizationServers: ReadonlyArray<string>
}

/** Reads the settings; both are comma-separated lists. */
export const mcpSettings = (
  text: (name: string) => string | null,
  refuse: (name: string, reason: string) => never
): McpSettings => ({
  origins: readOrigins(text("WEFT_MCP_ORIGINS"), (reason) => refuse("WEFT_MCP_ORIGINS", reason)),
  authorizationServers: readList(text("WEFT_MCP_AUTHORIZATION_SERVERS"), isHttpUrl, () =>
    refuse("WEFT_MCP_AUTHORIZATION_SERVERS", "must be at most 16 http or https URLs, separated by commas")
  )
})
