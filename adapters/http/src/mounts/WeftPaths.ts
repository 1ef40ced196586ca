/** The paths of Weft within a host. */
import type { HttpOptions } from "../app/HttpOptions.ts"

type Path = `/${string}`

export interface WeftPaths {
  /** Paths with all subpaths. */
  readonly prefixes: ReadonlyArray<Path>
  /** Paths without subpaths. */
  readonly exact: ReadonlyArray<Path>
}

/** Returns Weft's paths. Many hosts have a public `/metrics`, so Weft's exists only with a metrics token. */
export const weftPaths = ({ metricsToken, mcp, console = false }: HttpOptions): WeftPaths => ({
  prefixes: [
    ...(["/v1", "/webhook", "/tokens", "/mcp", "/admin"] as const),
    ...(console ? (["/console"] as const) : []),
    ...((mcp?.authorizationServers ?? []).length === 0 ? [] : (["/.well-known/oauth-protected-resource/mcp"] as const))
  ],
  exact: ["/docs", "/healthz", "/readyz", ...(metricsToken === undefined ? [] : ["/metrics" as const])]
})

/** True if a URL, with or without a query, is one of these paths. */
export const matchesPaths = ({ prefixes, exact }: WeftPaths, url: string): boolean =>
  prefixes.some((path) => startsWithPath(url, path, "/?")) || exact.some((path) => startsWithPath(url, path, "?"))

const startsWithPath = (url: string, path: Path, delimiters: string): boolean =>
  url.startsWith(path) && (url.length === path.length || delimiters.includes(url.charAt(path.length)))
