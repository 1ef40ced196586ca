/** Which paths of a host are Weft's. */
import type { HttpOptions } from "../app/HttpOptions.ts"

type Path = `/${string}`

export interface WeftPaths {
  /** With all that is below them. */
  readonly trees: ReadonlyArray<Path>
  /** Themselves only. */
  readonly leaves: ReadonlyArray<Path>
}

/** Many hosts have a `/metrics` of their own, and most are open to everybody: it is Weft's where there is a token for it. */
export const weftPaths = ({ metricsToken }: HttpOptions): WeftPaths => ({
  trees: ["/v1", "/webhook", "/mcp", "/admin"],
  leaves: ["/docs", "/healthz", "/readyz", ...(metricsToken === undefined ? [] : ["/metrics" as const])]
})

/** Whether a path, or a path with a query, is one of these. */
export const isAmong = ({ trees, leaves }: WeftPaths, url: string): boolean =>
  trees.some((path) => begins(url, path, "/?")) || leaves.some((path) => begins(url, path, "?"))

const begins = (url: string, path: Path, marks: string): boolean =>
  url.startsWith(path) && (url.length === path.length || marks.includes(url.charAt(path.length)))
