/** Which server is meant, and with what credentials: flags before the environment before the config file. */
import { Redacted, Result } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { localName, localUrl, type Profile, type ProfileBook, profileOf } from "../profiles/ProfileBook.ts"

export interface Target {
  /** The profile that is used, whether or not it is in the file. */
  readonly profile: string
  readonly url: string
  readonly apiKey: Redacted.Redacted<string> | null
  readonly adminToken: Redacted.Redacted<string> | null
}

/** What somebody says about the server; null is unsaid. */
export interface Wishes {
  readonly profile: string | null
  readonly url: string | null
}

export interface Variables extends Wishes {
  readonly apiKey: Redacted.Redacted<string> | null
  readonly adminToken: Redacted.Redacted<string> | null
}

/**
 * - A profile named by flag is meant whole: its URL and its keys come before those of the environment.
 * - Keys of the file go to the server of their profile and nowhere else, whatever URL is asked for.
 */
export const targetOf = (flags: Wishes, variables: Variables, book: ProfileBook): Result.Result<Target, Failure> => {
  const isFlagged = flags.profile !== null
  const url = flags.url ?? (isFlagged ? null : variables.url)
  if (url !== null && originOf(url) === null) return Result.fail(badUrl(url))
  const asked = flags.profile ?? variables.profile
  const name = asked ?? (url === null ? (book.current ?? localName) : nameOfServer(book, url))
  const profile = profileOf(book, name)
  if (profile === undefined && asked !== null && url === null && name !== localName) return Result.fail(noProfile(name))

  const effectiveUrl = url ?? profile?.url ?? localUrl
  const own = profile !== undefined && originOf(profile.url) === originOf(effectiveUrl) ? secretsOf(profile) : noSecrets
  return Result.succeed({
    profile: name,
    url: effectiveUrl.replace(/\/+$/, ""),
    apiKey: (isFlagged ? own.apiKey : null) ?? variables.apiKey ?? own.apiKey,
    adminToken: (isFlagged ? own.adminToken : null) ?? variables.adminToken ?? own.adminToken
  })
}

/** Scheme, host and port of an HTTP address; null of anything else. */
export const originOf = (url: string): string | null => {
  if (!URL.canParse(url)) return null
  const { protocol, origin } = new URL(url)
  return protocol === "http:" || protocol === "https:" ? origin : null
}

/** The current profile, if it is of that server, else another one that is, else a name for a new one. */
const nameOfServer = (book: ProfileBook, url: string): string => {
  const names = Object.keys(book.profiles).filter(
    (name) => originOf(profileOf(book, name)?.url ?? "") === originOf(url)
  )
  const { hostname } = new URL(url)
  return names.find((name) => name === book.current) ?? names[0] ?? (isLoopback(hostname) ? localName : hostname)
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname)

interface Secrets {
  readonly apiKey: Redacted.Redacted<string> | null
  readonly adminToken: Redacted.Redacted<string> | null
}

const noSecrets: Secrets = { apiKey: null, adminToken: null }

const secretsOf = ({ api_key, admin_token }: Profile): Secrets => ({
  apiKey: api_key === undefined ? null : Redacted.make(api_key),
  adminToken: admin_token === undefined ? null : Redacted.make(admin_token)
})

const badUrl = (url: string): Failure =>
  failure("usage", `${JSON.stringify(url)} is no URL of a server`, "give one such as https://weft.example.com")

const noProfile = (name: string): Failure =>
  failure(
    "config",
    `There is no profile ${JSON.stringify(name)}`,
    `make it with \`weft login --profile ${name} --url <url>\`, or see \`weft profiles list\``
  )
