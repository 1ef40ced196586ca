/** Settings of the MCP routes. */

export interface McpSettings {
  readonly origins: ReadonlyArray<string>
  readonly authorizationServers: ReadonlyArray<string>
}

/** Reads the settings; both are comma-separated lists. */
export const mcpSettings = (
  text: (name: string) => string | null,
  refuse: (name: string, reason: string) => never
): McpSettings => {
  const read = (name: string, isValid: (entry: string) => boolean, reason: string): ReadonlyArray<string> => {
    const entries = (text(name) ?? "").split(",").map((entry) => entry.trim())
    const given = entries.filter((entry) => entry !== "")
    return given.length <= entriesMax && given.every(isValid) ? given : refuse(name, reason)
  }
  return {
    origins: read(
      "WEFT_MCP_ORIGINS",
      isOrigin,
      "must be at most 16 origins such as https://app.example.com, separated by commas"
    ),
    authorizationServers: read(
      "WEFT_MCP_AUTHORIZATION_SERVERS",
      isHttpUrl,
      "must be at most 16 http or https URLs, separated by commas"
    )
  }
}

/** Maximum entries of a list. */
const entriesMax = 16

const isOrigin = (entry: string): boolean => isHttpUrl(entry) && new URL(entry).origin === entry

const isHttpUrl = (entry: string): boolean => URL.canParse(entry) && /^https?:$/.test(new URL(entry).protocol)
