/** Selects the server and its credentials: flags first, then environment variables, then the config file. */
import { Redacted, Result } from "effect"
import { type Failure, failure } from "../Failure.ts"
import { getProfile, localName, localUrl, type Profile, type ProfilesConfig } from "../profiles/ProfilesConfig.ts"

export interface Target {
  /** Name of the profile. The config file need not contain it. */
  readonly profile: string
  readonly url: string
  readonly apiKey: Redacted.Redacted<string> | null
  readonly adminToken: Redacted.Redacted<string> | null
  /** Name of the preview that requests act on; absent for the environment. */
  readonly preview?: string
}

/** The user's choice of a server; null where not given. */
export interface ServerChoice {
  readonly profile: string | null
  readonly url: string | null
}

export interface Variables extends ServerChoice {
  readonly apiKey: Redacted.Redacted<string> | null
  readonly adminToken: Redacted.Redacted<string> | null
}

/**
 * Resolves the server of a command.
 *
 * - A profile named by flag counts as a whole: its URL and keys precede those of environment variables.
 * - Keys of the config file are sent only to the server of their profile, whichever URL is given.
 */
export const resolveTarget = (
  flags: ServerChoice,
  variables: Variables,
  config: ProfilesConfig
): Result.Result<Target, Failure> => {
  const isFlagged = flags.profile !== null
  const url = flags.url ?? (isFlagged ? null : variables.url)
  if (url !== null && parseOrigin(url) === null) return Result.fail(invalidUrl(url))
  const named = flags.profile ?? variables.profile
  const name = named ?? (url === null ? (config.current ?? localName) : findProfileName(config, url))
  const profile = getProfile(config, name)
  if (profile === undefined && named !== null && url === null && name !== localName) return Result.fail(noProfile(name))

  const effectiveUrl = url ?? profile?.url ?? localUrl
  const own =
    profile !== undefined && parseOrigin(profile.url) === parseOrigin(effectiveUrl) ? readTokens(profile) : noTokens
  return Result.succeed({
    profile: name,
    url: effectiveUrl.replace(/\/+$/, ""),
    apiKey: (isFlagged ? own.apiKey : null) ?? variables.apiKey ?? own.apiKey,
    adminToken: (isFlagged ? own.adminToken : null) ?? variables.adminToken ?? own.adminToken
  })
}

/** Returns scheme, host and port of an HTTP URL; null for anything else. */
const parseOrigin = (url: string): string | null => {
  if (!URL.canParse(url)) return null
  const { protocol, origin } = new URL(url)
  return protocol === "http:" || protocol === "https:" ? origin : null
}

/** Returns the current profile if it belongs to this server, otherwise another profile that does, otherwise a new name. */
const findProfileName = (config: ProfilesConfig, url: string): string => {
  const names = Object.keys(config.profiles).filter(
    (name) => parseOrigin(getProfile(config, name)?.url ?? "") === parseOrigin(url)
  )
  const { hostname } = new URL(url)
  return names.find((name) => name === config.current) ?? names[0] ?? (isLoopback(hostname) ? localName : hostname)
}

/** True for the host of a URL that is this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname)

interface Tokens {
  readonly apiKey: Redacted.Redacted<string> | null
  readonly adminToken: Redacted.Redacted<string> | null
}

const noTokens: Tokens = { apiKey: null, adminToken: null }

const readTokens = ({ api_key, admin_token }: Profile): Tokens => ({
  apiKey: api_key === undefined ? null : Redacted.make(api_key),
  adminToken: admin_token === undefined ? null : Redacted.make(admin_token)
})

const invalidUrl = (url: string): Failure =>
  failure(
    "usage",
    `${JSON.stringify(url)} is not the URL of a server`,
    "use an http or https URL, such as https://weft.example.com"
  )

const noProfile = (name: string): Failure =>
  failure(
    "config",
    `There is no profile ${JSON.stringify(name)}`,
    `create it with \`weft login --profile ${name} --url <url>\`, or see \`weft profiles list\``
  )
