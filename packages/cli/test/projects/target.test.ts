import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { type Target, targetOf, type Variables, type Wishes } from "../../src/connection/Target.ts"
import { type ProfileBook, withoutProfile, withProfile } from "../../src/profiles/ProfileBook.ts"

const book: ProfileBook = {
  current: "local",
  profiles: {
    local: { url: "http://127.0.0.1:8787", api_key: "key-of-local" },
    production: { url: "https://weft.example.com", api_key: "key-of-production", admin_token: "admin-of-production" }
  }
}

const noVariables: Variables = { profile: null, url: null, apiKey: null, adminToken: null }
const unsaid: Wishes = { profile: null, url: null }

const ask = (flags: Partial<Wishes>, variables: Partial<Variables> = {}, of: ProfileBook = book) =>
  targetOf({ ...unsaid, ...flags }, { ...noVariables, ...variables }, of)

const facts = (asked: ReturnType<typeof ask>) => {
  const { profile, url, apiKey, adminToken }: Target = Result.getOrThrow(asked)
  const open = (secret: Redacted.Redacted<string> | null) => (secret === null ? null : Redacted.value(secret))
  return [profile, url, open(apiKey), open(adminToken)]
}

const local = ["local", "http://127.0.0.1:8787", "key-of-local", null]
const production = ["production", "https://weft.example.com", "key-of-production", "admin-of-production"]

describe("which server is meant", () => {
  it("is the current profile's, or the local one where nothing is said", () => {
    assert.deepStrictEqual(facts(ask({})), local)
    assert.deepStrictEqual(facts(ask({}, {}, { ...book, current: "production" })), production)
    assert.deepStrictEqual(facts(ask({}, {}, { profiles: {} })), ["local", "http://127.0.0.1:8787", null, null])
  })

  it("is what flags say, before the environment, before the file", () => {
    const variables = { profile: "production", apiKey: Redacted.make("key-of-environment") }
    assert.deepStrictEqual(facts(ask({}, { profile: "production" })), production)
    assert.deepStrictEqual(facts(ask({}, variables)).slice(0, 3), [...production.slice(0, 2), "key-of-environment"])
    assert.deepStrictEqual(facts(ask({ profile: "local" }, variables)), local)
    assert.deepStrictEqual(facts(ask({ profile: "local" }, { url: "https://elsewhere.example.com" })), local)
    assert.deepStrictEqual(
      facts(ask({ url: "https://weft.example.com/" }, { url: "http://127.0.0.1:8787" })),
      production
    )
  })

  it("gets the keys of its own profile only", () => {
    const stranger = ["stranger.example.com", "https://stranger.example.com", null, null]
    assert.deepStrictEqual(facts(ask({ url: "https://stranger.example.com" })), stranger)
    assert.deepStrictEqual(
      facts(ask({ url: "https://stranger.example.com", profile: "production" })).slice(1),
      stranger.slice(1)
    )
    assert.deepStrictEqual(facts(ask({ url: "http://weft.example.com" }))[2], null)
    assert.deepStrictEqual(facts(ask({ url: "https://weft.example.com:444" }))[2], null)
  })

  it("is refused when there is no such profile, or the URL is none", () => {
    for (const name of ["nowhere", "constructor", "__proto__"]) {
      const failed = ask({ profile: name })
      assert.isTrue(Result.isFailure(failed))
      assert.include(Result.isFailure(failed) ? failed.failure.remedy : "", `weft login --profile ${name}`)
    }
    for (const url of ["weft.example.com", "ftp://weft.example.com", "file:///etc/passwd", ""]) {
      const failed = ask({ url })
      assert.strictEqual(Result.isFailure(failed) ? failed.failure.code : null, "usage")
    }
  })
})

describe("the book of profiles", () => {
  it("makes its first profile the current one, and forgets with the profile that it was current", () => {
    const first = withProfile({ profiles: {} }, "a", { url: "http://a.example.com" })
    assert.strictEqual(first.current, "a")
    const second = withProfile(first, "b", { url: "http://b.example.com" })
    assert.strictEqual(second.current, "a")
    assert.deepStrictEqual(withoutProfile(second, "a"), { profiles: { b: { url: "http://b.example.com" } } })
    assert.deepStrictEqual(withoutProfile(second, "b"), first)
  })
})
