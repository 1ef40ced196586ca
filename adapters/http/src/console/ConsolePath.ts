/** The paths of the console. */

export const consolePrefix = "/console"

const apiPrefix = `${consolePrefix}/api`

/** The route in metrics and spans: paths of the page contain ids. */
export const consoleRoute = `${consolePrefix}/*`

/** Returns the URL below `/v1` that a request of the page means, or null for other requests. */
export const apiUrlOf = (url: string): string | null =>
  url.startsWith(`${apiPrefix}/v1/`) ? url.slice(apiPrefix.length) : null

/** Returns the relative URL of `/console/` from a path. It holds behind every prefix, which the server does not know. */
export const relativeBase = (url: string): string => {
  const path = url.split("?", 1)[0] ?? url
  const depth = path.slice(consolePrefix.length).split("/").length - 1
  return depth === 0 ? "console/" : depth === 1 ? "./" : "../".repeat(depth - 1)
}
