import { assert, describe, it } from "@effect/vitest"
import { parseUrl } from "@weft/s3"
import { Redacted, Result } from "effect"
import * as fc from "fast-check"
import { readSecret } from "./TestBucket.ts"

const parsed = (url: string) => Result.getOrThrow(parseUrl(Redacted.make(url)))

const problem = (url: string): string => {
  const result = parseUrl(Redacted.make(url))
  return Result.isFailure(result) ? result.failure : "none"
}

describe("the URL of a bucket", () => {
  it("sets all options", () => {
    const { credentials, ...rest } = parsed(
      "s3://test%3Atester:a%2Fb%2Bc%40@s3.example.com:9000/blobs/weft/one?tls=false&region=eu-1&path_style=false&create_bucket=false&presign_seconds=300&public_url=https://files.example.com"
    )
    assert.strictEqual(credentials.accessKeyId, "test:tester")
    assert.strictEqual(readSecret(credentials), "a/b+c@")
    assert.deepStrictEqual(rest, {
      endpoint: "s3.example.com",
      port: 9000,
      bucket: "blobs",
      prefix: "weft/one",
      tls: false,
      region: "eu-1",
      forcePathStyle: false,
      createBucket: false,
      presign: { expirySeconds: 300, publicEndpoint: "https://files.example.com" }
    })
  })

  it("omits options with defaults", () => {
    const { credentials, ...rest } = parsed("s3://key:secret@127.0.0.1/blobs/")
    assert.strictEqual(credentials.accessKeyId, "key")
    assert.strictEqual(readSecret(credentials), "secret")
    assert.deepStrictEqual(rest, { endpoint: "127.0.0.1", bucket: "blobs", prefix: "" })
  })

  it("is rejected with its requirements", () => {
    for (const [url, reason] of [
      ["", "must be s3://"],
      ["http://a:b@c/bucket", "must be s3://"],
      ["s3://access:se/cret@host/bucket", "must be s3://"],
      ["s3://host/bucket", "access key"],
      ["s3://access@host/bucket", "secret key"],
      ["s3://access:%zz@host/bucket", "secret key"],
      ["s3://access:secret@host:0/bucket", "must be s3://"],
      ["s3://access:secret@host:99999/bucket", "must be s3://"],
      ["s3://access:secret@host", "bucket"],
      ["s3://access:secret@host/Bucket", "bucket"],
      ["s3://access:secret@host/bucket/../x~y", "bucket"],
      ["s3://access:secret@host/bucket/x~y", "prefix"],
      ["s3://access:secret@host/bucket?tls=no", "tls"],
      ["s3://access:secret@host/bucket?region=a/b", "region"],
      ["s3://access:secret@host/bucket?other=1", "region"],
      ["s3://access:secret@host/bucket?presign_seconds=0", "604800"],
      ["s3://access:secret@host/bucket?presign_seconds=604801", "604800"],
      ["s3://access:secret@host/bucket?presign_seconds=10&public_url=ftp://x", "public_url"],
      ["s3://access:secret@host/bucket?presign_seconds=10&public_url=https://x/y", "public_url"],
      ["s3://access:secret@host/bucket#x", "must be s3://"]
    ] as const) {
      assert.include(problem(url), reason, url)
    }
  })

  it("never reveals the secret in an error", () => {
    const character = fc.constantFrom(..."abcXYZ0189+/=%@:?#[] ")
    const secret = fc.string({ unit: character, minLength: 12, maxLength: 40 })
    fc.assert(
      fc.property(secret, fc.constantFrom("", "/", "/bucket", "/bucket/x", "/bucket?x=1"), (secret, path) => {
        assert.notInclude(JSON.stringify(parseUrl(Redacted.make(`s3://access:${secret}@host${path}`))), secret)
      })
    )
  })

  it("accepts any escaped keys", () => {
    const key = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(key, key, (access, secret) => {
        const options = parsed(`s3://${encodeURIComponent(access)}:${encodeURIComponent(secret)}@host/bucket`)
        assert.strictEqual(options.credentials.accessKeyId, access)
        assert.strictEqual(readSecret(options.credentials), secret)
      })
    )
  })
})
