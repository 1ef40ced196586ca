/** Parses `s3://ACCESS:SECRET@HOST:PORT/BUCKET/PREFIX?tls=false&region=…`, the form of a setting. */
import { Redacted, Result } from "effect"
import { isPrefix } from "./Places.ts"
import { isExpiry, publicUrlOf, type S3Options } from "./S3Options.ts"

/** The fault of a URL: a sentence without its subject, and without any part of the URL. */
export type UrlProblem = string

/**
 * Reserved characters in the keys are written as `%XX`. The port and the prefix are optional.
 *
 * Parameters and their defaults: `tls=true`, `region=us-east-1`, `path_style=true`, `create_bucket=true`. With
 * `presign_seconds`, and optionally `public_url`, clients download files from S3 directly.
 */
export const parseUrl = (text: Redacted.Redacted<string>): Result.Result<S3Options, UrlProblem> => {
  const url = URL.parse(Redacted.value(text))
  if (url?.protocol !== "s3:") return Result.fail(shape)
  const [, bucket = "", prefix = ""] = /^\/([^/]*)\/?(.*?)\/?$/.exec(url.pathname) ?? []
  const accessKey = decoded(url.username)
  const secretKey = decoded(url.password)
  const settings = settingsOf(url.searchParams)
  const problem =
    (accessKey === null ? "must have an access key, escaped as in URLs" : null) ??
    (secretKey === null ? "must have a secret key, escaped as in URLs" : null) ??
    (url.hostname === "" || url.port === "0" || url.hash !== "" ? shape : null) ??
    (isBucket(bucket) ? null : "must name a bucket: 3 to 63 lowercase letters, digits, dots and hyphens") ??
    (isPrefix(prefix) ? null : "must have only letters, digits, `.`, `_` and `-` between the `/` of its prefix")
  if (problem !== null || accessKey === null || secretKey === null) return Result.fail(problem ?? shape)
  return Result.map(settings, (settings) => ({
    endpoint: url.hostname,
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    credentials: { accessKeyId: accessKey, secretAccessKey: Redacted.make(secretKey, { label: "S3 secret key" }) },
    bucket,
    prefix,
    ...settings
  }))
}

const shape = "must be s3://ACCESS:SECRET@HOST:PORT/BUCKET, with what means something in URLs as %XX"

/** Returns the decoded text; null if it is empty or not escaped correctly. */
const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text) || null
  } catch {
    return null
  }
}

const isBucket = (text: string): boolean => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)

interface Value {
  readonly is: (text: string) => boolean
  readonly means: string
}

const flag: Value = { is: (text) => text === "true" || text === "false", means: "true or false" }

const values: Readonly<Record<string, Value>> = {
  tls: flag,
  region: { is: (text) => /^[A-Za-z0-9-]+$/.test(text), means: "letters, digits and hyphens" },
  path_style: flag,
  create_bucket: flag,
  presign_seconds: { is: (text) => isExpiry(Number(text)), means: "a whole number from 1 to 604800" },
  public_url: { is: (text) => publicUrlOf(text) !== null, means: "https://HOST or http://HOST:PORT" }
}

type Settings = Pick<S3Options, "tls" | "region" | "forcePathStyle" | "createBucket" | "presign">

const settingsOf = (parameters: URLSearchParams): Result.Result<Settings, UrlProblem> => {
  for (const [name, text] of parameters) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) return Result.fail(`may have ${Object.keys(values).join(", ")} after its ?, and no others`)
    if (!value.is(text)) return Result.fail(`must have ${value.means} as ${name}`)
  }
  const [tls, region, pathStyle, createBucket, seconds, publicUrl] = Object.keys(values).map((name) =>
    parameters.get(name)
  )
  return Result.succeed({
    ...(tls ? { tls: tls === "true" } : {}),
    ...(region ? { region } : {}),
    ...(pathStyle ? { forcePathStyle: pathStyle === "true" } : {}),
    ...(createBucket ? { createBucket: createBucket === "true" } : {}),
    ...(seconds
      ? { presign: { expirySeconds: Number(seconds), ...(publicUrl ? { publicEndpoint: publicUrl } : {}) } }
      : {})
  })
}
