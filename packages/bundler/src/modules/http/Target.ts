/** Reads the arguments of `http.request`. */
import { notInFunctions } from "../refuse.ts"

export type HeaderValue = string | number | ReadonlyArray<string>

export interface RequestOptions {
  readonly protocol?: string | null
  readonly host?: string | null
  readonly hostname?: string | null
  readonly port?: number | string | null
  readonly path?: string | null
  readonly method?: string
  readonly auth?: string | null
  readonly headers?: Readonly<Record<string, HeaderValue | undefined>> | ReadonlyArray<string>
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly socketPath?: string | null
  readonly agent?: unknown
}

/** Returns the URL that the options describe, without credentials. */
export const toUrl = (options: RequestOptions, protocol: string): URL => {
  if (options.socketPath !== undefined && options.socketPath !== null) {
    throw notInFunctions("http.request with `socketPath`", "requests of functions leave by `fetch`")
  }
  const scheme = options.protocol ?? protocol
  const host = options.hostname ?? options.host ?? "localhost"
  const bracketed = host.includes(":") && !host.startsWith("[") && !/:\d+$/.test(host) ? `[${host}]` : host
  const port = options.port === undefined || options.port === null || options.port === "" ? "" : `:${options.port}`
  const authority = port !== "" && bracketed.endsWith(port) ? bracketed : `${bracketed}${port}`
  const path = options.path ?? "/"
  return new URL(`${scheme}//${authority}${path.startsWith("/") ? "" : "/"}${path}`)
}

/** Returns the options of a URL, as `url.urlToHttpOptions` does. */
export const fromUrl = (url: URL): RequestOptions => ({
  protocol: url.protocol,
  hostname: url.hostname,
  path: `${url.pathname}${url.search}`,
  ...(url.port === "" ? {} : { port: Number(url.port) }),
  ...(url.username === "" && url.password === ""
    ? {}
    : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` })
})
