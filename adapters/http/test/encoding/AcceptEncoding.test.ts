import { assert, describe, it } from "@effect/vitest"
import { chooseCoding } from "../../src/encoding/AcceptEncoding.ts"

describe("chooseCoding", () => {
  it.each([
    [undefined, null],
    ["", null],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, deflate", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP;Q=0.5", "gzip"],
    ["br;q=0.5, gzip;q=0.8", "gzip"],
    ["br;q=0, gzip;q=0", null],
    ["*", "br"],
    ["*;q=0.5, br;q=0", "zstd"],
    ["*;q=0", null],
    ["identity, gzip;q=0.5", null],
    ["identity;q=0.5, gzip", "gzip"],
    ["gzip;q=2, br;q=x, zstd;q=0.0001", null],
    ["compress, deflate", null],
    [`gzip,${" ".repeat(2000)}`, null]
  ])("chooses for %s the coding %s", (header, expected) => {
    assert.strictEqual(chooseCoding(header, ["br", "zstd", "gzip"]), expected)
  })
})
