/** Setters of the parts of a URL. An invalid value leaves the URL unchanged. */
import { parseHost } from "./host.ts"
import {
  appendPath,
  clean,
  encodeFragment,
  encodeQuery,
  setPort as parsePort,
  setFileHost,
  splitAt,
  splitPort
} from "./parser.ts"
import { percentEncode, userinfoSet } from "./percent.ts"
import { hasCredentials, hasOpaquePath, isHostless, isSpecial, portFor, type UrlRecord } from "./record.ts"

export const setProtocol = (url: UrlRecord, value: string): void => {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/.exec(clean(value) + ":")?.[1]?.toLowerCase()
  if (scheme === undefined || isSpecial(scheme) !== isSpecial(url.scheme)) {
    return
  }
  if (scheme === "file" && (hasCredentials(url) || url.port !== null)) {
    return
  }
  if (url.scheme === "file" && url.host === "") {
    return
  }
  url.scheme = scheme
  url.port = portFor(scheme, url.port)
}

export const setUsername = (url: UrlRecord, value: string): void => {
  if (!isHostless(url)) {
    url.username = percentEncode(value.toWellFormed(), userinfoSet)
  }
}

export const setPassword = (url: UrlRecord, value: string): void => {
  if (!isHostless(url)) {
    url.password = percentEncode(value.toWellFormed(), userinfoSet)
  }
}

/** Sets the host. With `withPort`, the value may contain a port. */
export const setHost = (url: UrlRecord, value: string, withPort: boolean): void => {
  if (hasOpaquePath(url)) {
    return
  }
  const special = isSpecial(url.scheme)
  const [authority] = splitAt(clean(value), special ? /[/\\?#]/ : /[/?#]/)
  if (url.scheme === "file") {
    setFileHost(url, authority)
    return
  }
  const [name, port] = splitPort(authority)
  if (port !== null && (name === "" || !withPort)) {
    return
  }
  if (name === "" && (special || hasCredentials(url) || url.port !== null)) {
    return
  }
  const host = name === "" ? "" : parseHost(name, special)
  if (host === null) {
    return
  }
  url.host = host
  if (port !== null) {
    parsePort(url, port, false)
  }
}

export const setPort = (url: UrlRecord, value: string): void => {
  if (isHostless(url)) {
    return
  }
  if (value === "") {
    url.port = null
  } else {
    parsePort(url, clean(value), false)
  }
}

export const setPathname = (url: UrlRecord, value: string): void => {
  if (hasOpaquePath(url)) {
    return
  }
  const text = clean(value)
  const special = isSpecial(url.scheme)
  url.path = []
  if (text !== "" || special) {
    appendPath(url, text.replace(special ? /^[/\\]/ : /^\//, ""))
  } else if (url.host === null) {
    url.path = [""]
  }
}

export const setSearch = (url: UrlRecord, value: string): void => {
  url.query = value === "" ? null : encodeQuery(url, clean(value.replace(/^\?/, "")))
}

export const setHash = (url: UrlRecord, value: string): void => {
  url.fragment = value === "" ? null : encodeFragment(clean(value.replace(/^#/, "")))
}
