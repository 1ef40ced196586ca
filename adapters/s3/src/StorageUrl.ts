/** `s3://ACCESS:SECRET@HOST:PORT/BUCKET/PREFIX?tls=false&region=…`, as a setting has it. */
import { Redacted, Result } from "effect"
import { isPrefix } from "./Places.ts"
import type { S3Options } from "./S3Options.ts"

/** What is wrong with a URL: a sentence without its subject, and without anything of the URL itself. */
export type UrlProblem = string

/**
 * Characters of the keys that mean something in URLs are written as `%XX`. After the `?` may be `tls` (true), `region`
 * (us-east-1), `path_style` (true) and `create_bucket` (true); the prefix may be left out, and the port.
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
    endPoint: url.hostname,
    ...(url.port === "" ? {} : { port: Number(url.port) }),
    accessKey,
    secretKey: Redacted.make(secretKey, { label: "S3 secret key" }),
    bucket,
    prefix,
    ...settings
  }))
}

const shape = "must be s3://ACCESS:SECRET@HOST:PORT/BUCKET, with what means something in URLs as %XX"

/** Null for none, and for what is not escaped as it must be. */
const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text) || null
  } catch {
    return null
  }
}

const isBucket = (text: string): boolean => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)

type Settings = Pick<S3Options, "useSSL" | "region" | "pathStyle" | "createBucket">

const flags: Readonly<Record<string, keyof Settings>> = {
  tls: "useSSL",
  path_style: "pathStyle",
  create_bucket: "createBucket"
}

const settingsOf = (parameters: URLSearchParams): Result.Result<Settings, UrlProblem> => {
  let settings: Settings = {}
  for (const [name, value] of parameters) {
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (name === "region" && /^[A-Za-z0-9-]+$/.test(value)) settings = { ...settings, region: value }
    else if (flag !== undefined && (value === "true" || value === "false")) {
      settings = { ...settings, [flag]: value === "true" }
    } else return Result.fail("may have tls, path_style and create_bucket, true or false, and region after its ?")
  }
  return Result.succeed(settings)
}
