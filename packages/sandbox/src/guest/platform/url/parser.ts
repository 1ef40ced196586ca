/**
 * The URL parser of the WHATWG standard.
 *
 * The standard describes a state machine over characters. Here each part is a function on the remaining text, with the
 * same results, so that the setters of `URL` can use single parts. A failure is null.
 */
import { parseHost } from "./host.ts"
import { controlSet, fragmentSet, pathSet, percentEncode, querySet, specialQuerySet, userinfoSet } from "./percent.ts"
import { hasOpaquePath, isSpecial, portFor, shortenPath, type UrlRecord } from "./record.ts"

/** Removes line breaks and tabs, and replaces lone surrogates. */
export const clean = (text: string): string => text.replace(/[\t\n\r]/g, "").toWellFormed()

/** Parses a URL, relative to `base` if necessary. */
export const parseUrl = (input: string, base: UrlRecord | null): UrlRecord | null => {
  const text = clean(input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, ""))
  const colon = /^[a-zA-Z][a-zA-Z0-9+\-.]*:/.exec(text)?.[0].length ?? 0
  if (colon > 0) {
    return parseAbsolute(text.slice(0, colon - 1).toLowerCase(), text.slice(colon), base)
  }
  if (base === null) {
    return null
  }
  if (hasOpaquePath(base)) {
    return text.startsWith("#") ? withTail({ ...base }, text) : null
  }
  return base.scheme === "file" ? parseFile(text, base) : parseRelative(text, base)
}

const emptyRecord = (scheme: string): UrlRecord => ({
  scheme,
  username: "",
  password: "",
  host: null,
  port: null,
  path: [],
  query: null,
  fragment: null
})

const parseAbsolute = (scheme: string, rest: string, base: UrlRecord | null): UrlRecord | null => {
  if (scheme === "file") {
    return parseFile(rest, base?.scheme === "file" ? base : null)
  }
  if (isSpecial(scheme)) {
    // "http:a" is relative to a base of the same scheme, for compatibility with the web.
    return base?.scheme === scheme && !rest.startsWith("//")
      ? parseRelative(rest, base)
      : parseAuthority(emptyRecord(scheme), rest.replace(/^[/\\]+/, ""))
  }
  if (rest.startsWith("//")) {
    return parseAuthority(emptyRecord(scheme), rest.slice(2))
  }
  if (rest.startsWith("/")) {
    return withPath(emptyRecord(scheme), rest.slice(1))
  }
  return withOpaquePath(emptyRecord(scheme), rest)
}

const isSlash = (character: string, special: boolean): boolean => character === "/" || (special && character === "\\")

const parseRelative = (text: string, base: UrlRecord): UrlRecord | null => {
  const special = isSpecial(base.scheme)
  const url = { ...base, path: copyPath(base), fragment: null }
  if (!isSlash(text.charAt(0), special)) {
    return withRelativePath(url, text)
  }
  if (isSlash(text.charAt(1), special)) {
    return parseAuthority(emptyRecord(base.scheme), special ? text.replace(/^[/\\]+/, "") : text.slice(2))
  }
  return withPath({ ...url, path: [], query: null }, text.slice(1))
}

const copyPath = (url: UrlRecord): Array<string> => (typeof url.path === "string" ? [] : [...url.path])

/** Appends to the path of the base: the query, the fragment or further segments. */
const withRelativePath = (url: UrlRecord, text: string): UrlRecord => {
  if (text === "" || text.startsWith("#")) {
    return withTail(url, text)
  }
  url.query = null
  if (text.startsWith("?")) {
    return withTail(url, text)
  }
  const path = copyPath(url)
  shortenPath(url, path)
  url.path = path
  return withPath(url, text)
}

const startsWithDrive = (text: string): boolean => /^[a-zA-Z][:|](?:[/\\?#]|$)/.test(text)

const parseFile = (text: string, base: UrlRecord | null): UrlRecord | null => {
  const url: UrlRecord = { ...emptyRecord("file"), host: "" }
  if (isSlash(text.charAt(0), true)) {
    return isSlash(text.charAt(1), true) ? parseFileHost(url, text.slice(2)) : parseFileRoot(url, text.slice(1), base)
  }
  if (base === null) {
    return withPath(url, text)
  }
  const relative = { ...url, host: base.host, path: copyPath(base), query: base.query }
  return startsWithDrive(text)
    ? withPath({ ...relative, path: [], query: null }, text)
    : withRelativePath(relative, text)
}

/** Parses a path from the root; on Windows, the root of the base's drive. */
const parseFileRoot = (url: UrlRecord, text: string, base: UrlRecord | null): UrlRecord => {
  if (base !== null) {
    url.host = base.host
    const drive = base.path[0] ?? ""
    if (!startsWithDrive(text) && /^[a-zA-Z]:$/.test(drive)) {
      url.path = [drive]
    }
  }
  return withPath(url, text)
}

const parseFileHost = (url: UrlRecord, text: string): UrlRecord | null => {
  const [host, rest] = splitAt(text, /[/\\?#]/)
  if (/^[a-zA-Z][:|]$/.test(host)) {
    return withPath(url, text)
  }
  return setFileHost(url, host) ? withPathStart(url, rest) : null
}

/** Sets the host of a file URL; "localhost" becomes empty. */
export const setFileHost = (url: UrlRecord, text: string): boolean => {
  const host = text === "" ? "" : parseHost(text, true)
  if (host === null) {
    return false
  }
  url.host = host === "localhost" ? "" : host
  return true
}

/** Splits `text` at the first character of `delimiters`, which begins the rest. */
export const splitAt = (text: string, delimiters: RegExp): readonly [string, string] => {
  const index = text.search(delimiters)
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index)]
}

const authorityEnd = (special: boolean): RegExp => (special ? /[/\\?#]/ : /[/?#]/)

const parseAuthority = (url: UrlRecord, text: string): UrlRecord | null => {
  const special = isSpecial(url.scheme)
  const [authority, rest] = splitAt(text, authorityEnd(special))
  const at = authority.lastIndexOf("@")
  if (at >= 0) {
    const [username, password] = splitAt(authority.slice(0, at), /:/)
    url.username = percentEncode(username, userinfoSet)
    url.password = percentEncode(password.slice(1), userinfoSet)
  }
  const [name, port] = splitPort(authority.slice(at + 1))
  // A port or credentials without a host.
  if (name === "" && (special || at >= 0 || port !== null)) {
    return null
  }
  url.host = name === "" ? "" : parseHost(name, special)
  if (url.host === null || (port !== null && !setPort(url, port, true))) {
    return null
  }
  return withPathStart(url, rest)
}

/** Splits at the first colon outside of brackets. The port is null without a colon. */
export const splitPort = (text: string): readonly [string, string | null] => {
  let inBrackets = false
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    if (character === ":" && !inBrackets) {
      return [text.slice(0, index), text.slice(index + 1)]
    }
    inBrackets = character === "[" || (inBrackets && character !== "]")
  }
  return [text, null]
}

/** Sets the port from its digits; without `whole`, other text may follow them. False if it is not a port. */
export const setPort = (url: UrlRecord, text: string, whole: boolean): boolean => {
  const digits = /^[0-9]*/.exec(text)?.[0] ?? ""
  if ((whole && digits !== text) || Number(digits) > 0xffff) {
    return false
  }
  if (digits !== "") {
    url.port = portFor(url.scheme, Number(digits))
  }
  return true
}

/** Parses the path after an authority. */
const withPathStart = (url: UrlRecord, text: string): UrlRecord => {
  const special = isSpecial(url.scheme)
  if (isSlash(text.charAt(0), special)) {
    return withPath(url, text.slice(1))
  }
  return special ? withPath(url, text) : withTail(url, text)
}

/** Appends the segments of `text`, which begins after a slash, and then parses the query. */
const withPath = (url: UrlRecord, text: string): UrlRecord => {
  const [path, rest] = splitAt(text, /[?#]/)
  appendPath(url, path)
  return withTail(url, rest)
}

const isSingleDot = (segment: string): boolean => /^(?:\.|%2e)$/i.test(segment)
const isDoubleDot = (segment: string): boolean => /^(?:\.|%2e){2}$/i.test(segment)

/** Appends segments to the path of `url`; ".." removes one. */
export const appendPath = (url: UrlRecord, text: string): void => {
  const path = copyPath(url)
  const segments = text.split(isSpecial(url.scheme) ? /[/\\]/ : "/")
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1
    if (isDoubleDot(segment)) {
      shortenPath(url, path)
    } else if (!isSingleDot(segment)) {
      const isDrive = url.scheme === "file" && path.length === 0 && /^[a-zA-Z][:|]$/.test(segment)
      path.push(isDrive ? segment.charAt(0) + ":" : percentEncode(segment, pathSet))
      continue
    }
    if (isLast) {
      path.push("")
    }
  }
  url.path = path
}

const withOpaquePath = (url: UrlRecord, text: string): UrlRecord => {
  const [path, rest] = splitAt(text, /[?#]/)
  url.path = percentEncode(path, controlSet)
  // A space right before the query would be lost if the query is removed.
  if (rest !== "" && url.path.endsWith(" ")) {
    url.path = url.path.slice(0, -1) + "%20"
  }
  return withTail(url, rest)
}

/** Parses the query and the fragment, each with its delimiter. */
const withTail = (url: UrlRecord, text: string): UrlRecord => {
  const [query, fragment] = splitAt(text, /#/)
  if (query !== "") {
    url.query = encodeQuery(url, query.slice(1))
  }
  if (fragment !== "") {
    url.fragment = encodeFragment(fragment.slice(1))
  }
  return url
}

export const encodeQuery = (url: UrlRecord, text: string): string =>
  percentEncode(text, isSpecial(url.scheme) ? specialQuerySet : querySet)

export const encodeFragment = (text: string): string => percentEncode(text, fragmentSet)
