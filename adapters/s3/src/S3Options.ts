/** Location of the blobs, credentials and time limits. */
import type { Redacted } from "effect"

export interface S3Credentials {
  readonly accessKeyId: string
  /** Text, or a `Redacted` of Effect, which logs do not print. */
  readonly secretAccessKey: string | Redacted.Redacted<string>
}

export interface S3Options {
  /** A host name or address. */
  readonly endpoint: string
  /** By default 443, or 80 without TLS. */
  readonly port?: number
  /** True to use TLS, the default. */
  readonly tls?: boolean
  /** `us-east-1` by default. */
  readonly region?: string
  readonly credentials: S3Credentials
  readonly bucket: string
  /** Prefix of all keys: segments of letters, digits, `.`, `_` and `-`, separated by `/`. Empty by default. */
  readonly prefix?: string
  /** True to put the bucket into the path of requests, the default; false to put it into the host name. */
  readonly forcePathStyle?: boolean
  /** True to create a missing bucket at start, the default. */
  readonly createBucket?: boolean
  /** Lets clients download files from S3 by URLs that expire; by default they download through this process. */
  readonly presign?: Presign
  readonly timeouts?: Partial<Timeouts>
}

export interface Presign {
  /** Lifetime of a URL in whole seconds, at most a week. */
  readonly expirySeconds: number
  /** The address of S3 for clients, `https://HOST` or `http://HOST:PORT`; by default the same as for this process. */
  readonly publicEndpoint?: string
}

export const isExpiry = (seconds: number): boolean => Number.isInteger(seconds) && seconds >= 1 && seconds <= 604_800

/** Time limits of requests, in milliseconds. */
export interface Timeouts {
  /** For a request with few bytes, and for a pause within a response. */
  readonly responseMs: number
  /** For a request that carries a block of bytes, or makes S3 copy or join some. */
  readonly transferMs: number
}

export const defaultTimeouts: Timeouts = { responseMs: 30_000, transferMs: 120_000 }

export const defaultRegion = "us-east-1"

/** Returns the URL, or null unless it is a scheme, a host and a port alone. */
export const publicUrlOf = (text: string): URL | null => {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  return isPlain ? url : null
}
