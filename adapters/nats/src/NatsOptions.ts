/** What a host says of its NATS servers. */
import { Redacted } from "effect"

export interface NatsOptions {
  /**
   * `nats://HOST:PORT`, or `tls://HOST:PORT` for TLS; any of several servers of a cluster. They may carry
   * `USER:PASSWORD@` or `TOKEN@`, for which the first that does counts.
   */
  readonly servers: string | ReadonlyArray<string>
  readonly user?: string
  readonly password?: string | Redacted.Redacted<string>
  readonly token?: string | Redacted.Redacted<string>
  /** What subjects begin with; default `weft`. Nodes with the same tell each other. */
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

/** Or why not; without what is secret. */
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
