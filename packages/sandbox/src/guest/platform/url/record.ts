/** A parsed URL, and how it is written. */

export interface UrlRecord {
  scheme: string
  username: string
  password: string
  /** In serialised form; null when there is none. */
  host: string | null
  /** Null when it is the scheme's default. */
  port: number | null
  /** A string when the path is opaque, as in "mailto:a@b". */
  path: string | Array<string>
  /** Without its "?"; null when there is none. */
  query: string | null
  /** Without its "#"; null when there is none. */
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

/** `port`, or null when it goes without saying. */
export const portFor = (scheme: string, port: number | null): number | null =>
  defaultPorts.get(scheme) === port ? null : port

export const hasOpaquePath = (url: UrlRecord): boolean => typeof url.path === "string"

export const hasCredentials = (url: UrlRecord): boolean => url.username !== "" || url.password !== ""

/** Such URLs can have neither credentials nor a port. */
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
    // Or a path that begins with "//" would be read as a host.
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

/** The origin of HTTP and its like; "null" for all that have none. */
export const originOf = (url: UrlRecord): string =>
  isSpecial(url.scheme) && url.scheme !== "file" ? `${url.scheme}://${writeHost(url)}` : "null"
