/** Options for the NATS servers of a host. */
import { Redacted } from "effect"

export interface NatsOptions {
  /**
   * `nats://HOST:PORT`, or `tls://HOST:PORT` for TLS: one or more servers of a cluster. An address may carry
   * `USER:PASSWORD@` or `TOKEN@`; the first such address provides the credentials.
   */
  readonly servers: string | ReadonlyArray<string>
  readonly user?: string
  readonly password?: string | Redacted.Redacted<string>
  readonly token?: string | Redacted.Redacted<string>
  /** Prefix of the subjects; `weft` by default. Nodes with the same prefix form a cluster. */
  readonly prefix?: string
}

export interface Resolved {
  /** `HOST:PORT` each. */
  readonly servers: ReadonlyArray<string>
  readonly isTls: boolean
  readonly user: string | null
  readonly password: Redacted.Redacted<string> | null
  readonly token: Redacted.Redacted<string> | null
  readonly subject: string
}

/** Returns the resolved options, or the reason why they are invalid, without secrets. */
export const resolve = (options: NatsOptions): Resolved | string => {
  const given = typeof options.servers === "string" ? options.servers.split(",") : options.servers
  const urls = given.map((server) => URL.parse(server.trim()))
  const known = urls.filter((url) => url !== null).filter(({ protocol }) => protocol === "nats:" || protocol === "tls:")
  if (known.length === 0 || known.length < given.length) return "servers must be nats://HOST:PORT or tls://HOST:PORT"
  const { prefix = "weft" } = options
  if (!/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(prefix)) {
    return "prefix must be names of letters, digits, _ and - with dots between"
  }
  const bearer = known.find(({ username }) => username !== "")
  const name = bearer === undefined ? null : decodeURIComponent(bearer.username)
  const secret = bearer === undefined || bearer.password === "" ? null : decodeURIComponent(bearer.password)
  const isToken = name !== null && secret === null
  return {
    servers: known.map(({ host, port }) => (port === "" ? `${host}:4222` : host)),
    isTls: known.some(({ protocol }) => protocol === "tls:"),
    user: options.user ?? (isToken ? null : name),
    password: redacted(options.password ?? secret),
    token: redacted(options.token ?? (isToken ? name : null)),
    subject: `${prefix}.feed`
  }
}

const redacted = (secret: string | Redacted.Redacted<string> | null): Redacted.Redacted<string> | null =>
  secret === null || Redacted.isRedacted(secret) ? secret : Redacted.make(secret)
