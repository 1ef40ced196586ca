/** A parsed URL, and its serialization. */

export interface UrlRecord {
  scheme: string
  username: string
  password: string
  /** Serialized host, or null. */
  host: string | null
  /** Port, or null for the scheme's default. */
  port: number | null
  /** Segments, or a string for an opaque path, as in "mailto:a@b". */
  path: string | Array<string>
  /** Query without its "?", or null. */
  query: string | null
  /** Fragment without its "#", or null. */
  fragment: string | null
}

const defaultPorts: ReadonlyMap<string, number | null> = new Map([
  ["ftp", 21],
  ["file", null],
  ["http", 80],
  ["https", 443],
  ["ws", 80],
  ["wss", 443]
])

export const isSpecial = (scheme: string): boolean => defaultPorts.has(scheme)

/** Returns `port`, or null if it is the default of the scheme. */
export const portFor = (scheme: string, port: number | null): number | null =>
  defaultPorts.get(scheme) === port ? null : port

export const hasOpaquePath = (url: UrlRecord): boolean => typeof url.path === "string"

export const hasCredentials = (url: UrlRecord): boolean => url.username !== "" || url.password !== ""

/** True for URLs that can have neither credentials nor a port. */
export const isHostless = (url: UrlRecord): boolean => url.host === null || url.host === "" || url.scheme === "file"

/** Removes the last segment, except a drive letter. */
export const shortenPath = (url: UrlRecord, path: Array<string>): void => {
  if (!(url.scheme === "file" && path.length === 1 && /^[a-zA-Z]:$/.test(path[0] ?? ""))) {
    path.pop()
  }
}

export const writePath = (url: UrlRecord): string =>
  typeof url.path === "string" ? url.path : url.path.map((segment) => "/" + segment).join("")

export const writeHost = (url: UrlRecord): string =>
  url.host === null ? "" : url.port === null ? url.host : `${url.host}:${url.port}`

const writeAuthority = (url: UrlRecord): string => {
  if (url.host === null) {
    // Otherwise a path that begins with "//" would be parsed as a host.
    return typeof url.path !== "string" && url.path.length > 1 && url.path[0] === "" ? "/." : ""
  }
  const password = url.password === "" ? "" : ":" + url.password
  const credentials = hasCredentials(url) ? `${url.username}${password}@` : ""
  return "//" + credentials + writeHost(url)
}

export const writeUrl = (url: UrlRecord): string => {
  const query = url.query === null ? "" : "?" + url.query
  const fragment = url.fragment === null ? "" : "#" + url.fragment
  return url.scheme + ":" + writeAuthority(url) + writePath(url) + query + fragment
}

/** Returns the origin of HTTP and similar schemes; "null" for the others. */
export const originOf = (url: UrlRecord): string =>
  isSpecial(url.scheme) && url.scheme !== "file" ? `${url.scheme}://${writeHost(url)}` : "null"
