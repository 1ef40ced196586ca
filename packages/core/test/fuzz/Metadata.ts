/** Fuzz target for the metadata of a build's functions: JSON text of a list, written by guests. */
import { type Draws, type Target, textOf, utf8 } from "@weft/tooling/fuzz"
import { Effect, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { assert } from "vitest"
import { freshIds } from "../../src/foundation/Ids.ts"
import type { ExportedFunction } from "../../src/platform/sandbox/Sandbox.ts"
import { Manifest } from "../../src/resources/builds/Manifest.ts"
import { readManifest } from "../../src/resources/builds/Meta.ts"

const examples = [
  { event: "order:created", retry: { attempts: 5, delay: "1s", backoff: 2, max_delay: "1m", jitter: true } },
  { event: ["a", "b*"], concurrency: { limit: 3, key: "a.b" }, idempotency: "id", timeout: "PT5M", retention: "7d" },
  { schedule: { cron: "0 3 * * *", timezone: "Europe/Oslo" } },
  { schedule: ["*/5 * * * *", { cron: "0 0 29 2 *" }] },
  {
    webhook: { service: "greeter", path: "/hello", method: "GET", auth: "none", name: "x" },
    "secret-headers": ["X-A"],
    record: "failures"
  },
  {
    tool: {
      service: "crm",
      name: "lookup",
      description: "d",
      input: { type: "object", properties: { id: { type: "string" } } }
    }
  },
  {}
]
const odd: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  "",
  "x",
  [],
  {},
  [[]],
  "__proto__",
  "\u0000",
  "1d",
  "-1s",
  "9999999d",
  "../..",
  "*",
  "*/1 * * * * *"
]

/** Replaces a random part of the example. */
const mutate = (value: unknown, draws: Draws): unknown => {
  if (typeof value !== "object" || value === null || draws.chance(0.2)) return draws.one(odd)
  const keys = Object.keys(value)
  const copy: unknown = structuredClone(value)
  if (typeof copy !== "object" || copy === null || keys.length === 0) return draws.one(odd)
  const key = draws.chance(0.1) ? draws.one(["extra", "__proto__", "constructor"]) : draws.one(keys)
  Object.defineProperty(copy, key, {
    value: mutate(Reflect.get(value, key), draws),
    enumerable: true,
    configurable: true,
    writable: true
  })
  return copy
}

const makeFunction = (draws: Draws): unknown => {
  const example = draws.one(examples)
  return {
    ns: draws.one(["main", "orders", "billing.invoices", "", "\u0000"]),
    var: draws.one(["go", "stop", "constructor", "\ud800"]),
    meta: draws.chance(0.5) ? example : mutate(example, draws)
  }
}

const Functions = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ ns: Schema.String, var: Schema.String, meta: Schema.Json }))
)
const decode = Schema.decodeUnknownResult(Functions)
const isManifest = Schema.is(Manifest)

const read = (functions: ReadonlyArray<ExportedFunction>) =>
  Effect.runSync(
    Effect.flatMap(freshIds, (freshId) => Effect.result(readManifest(functions, freshId))).pipe(
      Effect.provide(SecureRandom.layerWebCrypto)
    )
  )

export const metadata: Target = {
  name: "metadata",
  generate: (draws) => utf8(JSON.stringify(draws.some(() => makeFunction(draws), 3, 1))),
  words: [
    '"meta":',
    '"webhook":{"service":"a","path":"/"}',
    '"event":"a"',
    '"__proto__":1,',
    "null",
    "1e999",
    "\\u0000"
  ],
  covers: /cron-parser/,
  limitMs: 1000,
  run: (input) => {
    const functions = decode(textOf(input))
    if (Result.isFailure(functions)) return "refused"
    const manifest = read(functions.success)
    if (Result.isFailure(manifest)) {
      assert.isNotEmpty(manifest.failure.reason)
      assert.isBelow(manifest.failure.reason.length, 64 * 1024)
      return "refused"
    }
    assert.isTrue(isManifest(manifest.success), "the result is not a manifest")
    // A manifest is stored as text and parsed again.
    assert.isTrue(isManifest(JSON.parse(JSON.stringify(manifest.success))))
    return "taken"
  }
}
