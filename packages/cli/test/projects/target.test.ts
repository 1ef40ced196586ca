import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { resolveTarget, type ServerChoice, type Target, type Variables } from "../../src/connection/Target.ts"
import { type ProfilesConfig, withoutProfile, withProfile } from "../../src/profiles/ProfilesConfig.ts"

const config: ProfilesConfig = {
  current: "local",
  profiles: {
    local: { url: "http://127.0.0.1:8787", api_key: "key-of-local" },
    production: { url: "https://weft.example.com", api_key: "key-of-production", admin_token: "admin-of-production" }
  }
}

const noVariables: Variables = { profile: null, url: null, apiKey: null, adminToken: null }
const noChoice: ServerChoice = { profile: null, url: null }

const resolve = (flags: Partial<ServerChoice>, variables: Partial<Variables> = {}, of: ProfilesConfig = config) =>
  resolveTarget({ ...noChoice, ...flags }, { ...noVariables, ...variables }, of)

const facts = (result: ReturnType<typeof resolve>) => {
  const { profile, url, apiKey, adminToken }: Target = Result.getOrThrow(result)
  const open = (secret: Redacted.Redacted<string> | null) => (secret === null ? null : Redacted.value(secret))
  return [profile, url, open(apiKey), open(adminToken)]
}

const local = ["local", "http://127.0.0.1:8787", "key-of-local", null]
const production = ["production", "https://weft.example.com", "key-of-production", "admin-of-production"]

describe("resolveTarget", () => {
  it("returns the current profile by default, or the local server", () => {
    assert.deepStrictEqual(facts(resolve({})), local)
    assert.deepStrictEqual(facts(resolve({}, {}, { ...config, current: "production" })), production)
    assert.deepStrictEqual(facts(resolve({}, {}, { profiles: {} })), ["local", "http://127.0.0.1:8787", null, null])
  })

  it("prefers flags to environment variables, and these to the config file", () => {
    const variables = { profile: "production", apiKey: Redacted.make("key-of-environment") }
    assert.deepStrictEqual(facts(resolve({}, { profile: "production" })), production)
    assert.deepStrictEqual(facts(resolve({}, variables)).slice(0, 3), [...production.slice(0, 2), "key-of-environment"])
    assert.deepStrictEqual(facts(resolve({ profile: "local" }, variables)), local)
    assert.deepStrictEqual(facts(resolve({ profile: "local" }, { url: "https://elsewhere.example.com" })), local)
    assert.deepStrictEqual(
      facts(resolve({ url: "https://weft.example.com/" }, { url: "http://127.0.0.1:8787" })),
      production
    )
  })

  it("sends keys only to the server of their profile", () => {
    const unknownServer = ["stranger.example.com", "https://stranger.example.com", null, null]
    assert.deepStrictEqual(facts(resolve({ url: "https://stranger.example.com" })), unknownServer)
    assert.deepStrictEqual(
      facts(resolve({ url: "https://stranger.example.com", profile: "production" })).slice(1),
      unknownServer.slice(1)
    )
    assert.deepStrictEqual(facts(resolve({ url: "http://weft.example.com" }))[2], null)
    assert.deepStrictEqual(facts(resolve({ url: "https://weft.example.com:444" }))[2], null)
  })

  it("rejects unknown profiles and invalid URLs", () => {
    for (const name of ["nowhere", "constructor", "__proto__"]) {
      const failed = resolve({ profile: name })
      assert.isTrue(Result.isFailure(failed))
      assert.include(Result.isFailure(failed) ? failed.failure.remedy : "", `weft login --profile ${name}`)
    }
    for (const url of ["weft.example.com", "ftp://weft.example.com", "file:///etc/passwd", ""]) {
      const failed = resolve({ url })
      assert.strictEqual(Result.isFailure(failed) ? failed.failure.code : null, "usage")
    }
  })
})

describe("the config file", () => {
  it("makes its first profile current, and has no current profile after its removal", () => {
    const first = withProfile({ profiles: {} }, "a", { url: "http://a.example.com" })
    assert.strictEqual(first.current, "a")
    const second = withProfile(first, "b", { url: "http://b.example.com" })
    assert.strictEqual(second.current, "a")
    assert.deepStrictEqual(withoutProfile(second, "a"), { profiles: { b: { url: "http://b.example.com" } } })
    assert.deepStrictEqual(withoutProfile(second, "b"), first)
  })
})
