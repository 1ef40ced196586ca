import { describe, expect, it } from "vitest"
import { secretCompares } from "../../src/rules/secretCompares.ts"
import { findingsOf } from "../fixture.ts"

const file = "packages/core/src/access/Guess.ts"
const said = (code: string, path = file) => findingsOf(secretCompares, { [path]: code })

describe("secrets", () => {
  it("are not compared by what stops at the first difference", () => {
    for (const code of [
      "token === expected",
      "given !== key.secret_hash",
      "held.secretHash == hash",
      "Redacted.value(given) === other",
      "expected.startsWith(token)",
      "allowed.includes(adminToken)",
      "signature.localeCompare(expected)",
      "Buffer.compare(scriptMac, other)",
      "password.equals(other)",
      "known.get(token)",
      "known.has(session.secret)",
      "switch (token) { case expected: break }"
    ]) {
      expect(said(`const a = 1\n${code}`), code).toEqual([
        expect.stringMatching(/^packages\/core\/src\/access\/Guess\.ts:2 secret-compare .*Mac\.timingSafeEqual$/)
      ])
    }
  })

  it("may be looked at for being there, for their kind, and in constant time", () => {
    for (const code of [
      "token === null",
      "undefined !== metricsToken",
      'secret === ""',
      'typeof token === "string"',
      'token.startsWith("svc_")',
      'query.get("token")',
      "Mac.timingSafeEqual(mac, other)",
      "hash === build.hash",
      "tokenType === other",
      "machine === other",
      "secretCount === 3"
    ]) {
      expect(said(code), code).toEqual([])
    }
  })

  it("are their owner's matter on their owner's machine, and a test's in tests", () => {
    for (const path of [
      "packages/cli/src/Login.ts",
      "packages/sandbox/src/guest/Key.ts",
      "packages/core/test/tenants/access/Guess.test.ts"
    ]) {
      expect(said("token === expected", path)).toEqual([])
    }
  })
})
