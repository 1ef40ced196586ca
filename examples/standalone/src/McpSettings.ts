/** Settings of the MCP routes. */
import { isHttpUrl, readList, readOrigins } from "./Lists.ts"

export interface McpSettings {
  readonly origins: ReadonlyArray<string>
  readonly authorizationServers: ReadonlyArray<string>
  readonly runCode: boolean
}

/** Reads the settings. Lists are separated by commas. */
export const mcpSettings = (
  text: (name: string) => string | null,
  flag: (name: string) => boolean,
  refuse: (name: string, reason: string) => never
): McpSettings => ({
  origins: readOrigins(text("WEFT_MCP_ORIGINS"), (reason) => refuse("WEFT_MCP_ORIGINS", reason)),
  authorizationServers: readList(text("WEFT_MCP_AUTHORIZATION_SERVERS"), isHttpUrl, () =>
    refuse("WEFT_MCP_AUTHORIZATION_SERVERS", "must be at most 16 http or https URLs, separated by commas")
  ),
  runCode: flag("WEFT_MCP_RUN_CODE")
})
