/** Where the blobs are, and who asks for them. */
import type { Redacted } from "effect"

export interface S3Options {
  /** A host name or address. */
  readonly endPoint: string
  /** By default 443, or 80 without TLS. */
  readonly port?: number
  /** Whether to speak TLS; true by default. */
  readonly useSSL?: boolean
  /** `us-east-1` by default. */
  readonly region?: string
  readonly accessKey: string
  readonly secretKey: Redacted.Redacted<string>
  readonly bucket: string
  /** Before all keys: segments of letters, digits, `.`, `_` and `-`, with `/` between. None by default. */
  readonly prefix?: string
  /** Whether the bucket stands in the path of requests, true by default, or in their host name. */
  readonly pathStyle?: boolean
  /** Whether a bucket that is missing is made at start; true by default. */
  readonly createBucket?: boolean
  /** Lets clients get files from S3 itself, by URLs that end; by default they get them through this process. */
  readonly presign?: Presign
  readonly patience?: Partial<Patience>
}

export interface Presign {
  /** How long a URL is good: whole seconds, up to a week. */
  readonly expirySeconds: number
  /** Where clients reach S3: `https://HOST` or `http://HOST:PORT`. By default where this process does. */
  readonly publicEndPoint?: string
}

export const isExpiry = (seconds: number): boolean => Number.isInteger(seconds) && seconds >= 1 && seconds <= 604_800

/** After how many milliseconds an answer is not waited for any longer. */
export interface Patience {
  /** Of a request that carries few bytes; also how long S3 may be silent in the middle of what it sends. */
  readonly answerMs: number
  /** Of a request that carries a block of bytes, or lets S3 copy or join some. */
  readonly transferMs: number
}

export const patience: Patience = { answerMs: 30_000, transferMs: 120_000 }

export const defaultRegion = "us-east-1"

/** Null for what is more or less than a scheme, a host and a port. */
export const publicUrlOf = (text: string): URL | null => {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  return isPlain ? url : null
}
