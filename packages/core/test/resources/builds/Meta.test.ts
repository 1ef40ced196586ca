import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { freshIds } from "../../../src/foundation/Ids.ts"
import type { ExportedFunction } from "../../../src/platform/sandbox/Sandbox.ts"
import { Manifest } from "../../../src/resources/builds/Manifest.ts"
import { readManifest } from "../../../src/resources/builds/Meta.ts"
import { noRetry } from "../../../src/resources/builds/RetryPolicy.ts"

const read = (...functions: ReadonlyArray<ExportedFunction>) =>
  Effect.flatMap(freshIds, (freshId) => readManifest(functions, freshId)).pipe(
    Effect.provide(SecureRandom.layerWebCrypto)
  )

const fn = (meta: Schema.Json | undefined, name = "go", ns = "main"): ExportedFunction => ({ ns, var: name, meta })

const reasonFor = (...functions: ReadonlyArray<ExportedFunction>) =>
  Effect.map(Effect.flip(read(...functions)), (error) => error.reason)

const go = { ns: "main", var: "go" }
const webhook = { service: "greeter", path: "/hello" }
const hook = (more: Record<string, Schema.Json>) => ({ webhook: { ...webhook, ...more } })

describe("readManifest", () => {
  it.effect("stores the retention of a function once, whatever its triggers", () =>
    Effect.gen(function* () {
      const manifest = yield* read(
        fn({ ...hook({}), event: "a", schedule: "0 3 * * *", retention: "7d" }),
        fn({}, "plain")
      )
      assert.strictEqual(manifest.functions[0]?.retention_ms, 7 * 24 * 3_600_000)
      assert.lengthOf(JSON.stringify(manifest).match(/retention_ms/g) ?? [], 1)
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(Manifest)(manifest), manifest)
    })
  )

  it.effect("reads the examples of the documentation", () =>
    Effect.gen(function* () {
      const manifest = yield* read(
        fn(
          {
            event: "order:created",
            retry: { attempts: 5, delay: "1s", backoff: 2, max_delay: "1m", jitter: true }
          },
          "onOrder"
        ),
        fn({ schedule: { cron: "0 3 * * *", timezone: "Europe/Oslo" } }, "nightly"),
        fn(
          {
            webhook: { service: "greeter", path: "/hello", method: "GET", auth: "none" },
            "secret-headers": ["X-Hub-Signature"]
          },
          "hello"
        ),
        fn(
          { tool: { service: "crm", name: "lookup", description: "…", input: { type: "object", properties: {} } } },
          "lookup"
        ),
        fn(undefined, "add", "math")
      )
      yield* Schema.decodeUnknownEffect(Manifest)(manifest)
      assert.deepStrictEqual(
        manifest.functions.map((it) => `${it.ns}/${it.var}`),
        ["main/onOrder", "main/nightly", "main/hello", "main/lookup", "math/add"]
      )
      const [handler] = manifest.handlers
      assert.deepInclude(handler, {
        ns: "main",
        var: "onOrder",
        event_type: "order:created",
        retry: { attempts: 5, delay_ms: 1000, backoff: 2, max_delay_ms: 60_000, jitter: true },
        timeout_ms: 300_000
      })
      const [schedule] = manifest.schedules
      assert.deepInclude(schedule, { cron: "0 3 * * *", timezone: "Europe/Oslo", retry: noRetry, timeout_ms: 300_000 })
      assert.deepStrictEqual(manifest.endpoints, [
        {
          ns: "main",
          var: "hello",
          service: "greeter",
          path: "/hello",
          method: "GET",
          name: "main_hello",
          description: "",
          auth: "none",
          secret_headers: ["x-hub-signature"],
          timeout_ms: 30_000,
          record: "before"
        }
      ])
      assert.deepStrictEqual(manifest.tools, [
        {
          ns: "main",
          var: "lookup",
          service: "crm",
          name: "lookup",
          description: "…",
          input: { type: "object", properties: {} },
          timeout_ms: 30_000,
          record: "before"
        }
      ])
    })
  )

  it.effect("applies defaults", () =>
    Effect.gen(function* () {
      const { endpoints, schedules, tools } = yield* read(
        fn({
          webhook: { service: "s", path: "p" },
          tool: { service: "s" },
          schedule: "* * * * *",
          description: "Does it",
          timeout: "1m"
        })
      )
      assert.deepInclude(endpoints[0], { method: "POST", auth: "none", path: "/p", timeout_ms: 60_000 })
      assert.deepInclude(endpoints[0], { name: "main_go", description: "Does it", secret_headers: [] })
      assert.deepInclude(schedules[0], { timezone: "UTC", timeout_ms: 60_000 })
      assert.deepInclude(tools[0], { name: "go", description: "Does it", input: { type: "object" } })
    })
  )

  it.effect("gives the webhook and the tool of a function its record", () =>
    Effect.gen(function* () {
      const manifest = yield* read(
        fn({ ...hook({}), tool: { service: "s" }, record: "failures" }, "both"),
        fn({ event: "a", record: "before" }, "onA")
      )
      assert.deepStrictEqual([manifest.endpoints[0]?.record, manifest.tools[0]?.record], ["failures", "failures"])
      const stored = JSON.parse(JSON.stringify(manifest, (key, value) => (key === "record" ? undefined : value)))
      const older = yield* Schema.decodeUnknownEffect(Manifest)(stored)
      assert.deepStrictEqual([older.endpoints[0]?.record, older.tools[0]?.record], ["before", "before"])
    })
  )

  it.effect("gives every trigger of a function a unique id", () =>
    Effect.gen(function* () {
      const { handlers, schedules } = yield* read(
        fn({ event: ["a", "b:*", "*"], schedule: ["0 3 * * *", { cron: "*/5 * * * * *" }] })
      )
      assert.deepStrictEqual(
        handlers.map((it) => it.event_type),
        ["a", "b:*", "*"]
      )
      assert.strictEqual(new Set([...handlers, ...schedules].map((it) => Object.values(it)[0])).size, 5)
    })
  )

  it.effect("allows a path with several methods, and a tool name in several services", () =>
    Effect.gen(function* () {
      const tool = { service: "crm", name: "find" }
      const { endpoints, tools } = yield* read(
        fn({ ...hook({ method: "GET" }), tool }, "a"),
        fn({ ...hook({ method: "POST" }), tool: { ...tool, service: "erp" } }, "b"),
        fn(hook({ path: "/hello/" }), "c")
      )
      assert.deepStrictEqual([endpoints.length, tools.length], [3, 2])
    })
  )

  it.effect("rejects two functions with the same endpoint, tool, resource or prompt", () =>
    Effect.gen(function* () {
      const endpoint = yield* reasonFor(fn(hook({}), "a"), fn(hook({ path: "hello", method: "POST" }), "b"))
      assert.strictEqual(endpoint, "main/b: meta.webhook claims POST /greeter/hello, which main/a claims already")
      const tool = { tool: { service: "crm", name: "find" } }
      assert.include(yield* reasonFor(fn(tool, "a"), fn(tool, "b", "ns")), "ns/b: meta.tool claims")
      const resource = { resource: { service: "crm", uri: "crm://a" } }
      assert.include(yield* reasonFor(fn(resource, "a"), fn(resource, "b", "ns")), "ns/b: meta.resource claims")
      const prompt = { prompt: { service: "crm", name: "find" } }
      assert.include(yield* reasonFor(fn(prompt, "a"), fn(prompt, "b", "ns")), "ns/b: meta.prompt claims")
    })
  )
})

const event = { event: "a" }
const retry = (fields: Record<string, Schema.Json>) => ({ ...event, retry: fields })
const cases: ReadonlyArray<[meta: Schema.Json, field: string, reason: string]> = [
  ["event", "", "must be an object"],
  [null, "", "must be an object"],
  [[], "", "must be an object"],
  [{ evnt: "a" }, "evnt", "is not a known key"],
  [{ ...event, concurrency: { limit: 0 } }, "concurrency.limit", "must be a number from 1 to 10000"],
  [{ ...event, concurrency: { limit: 1, name: "a b" } }, "concurrency.name", "must be 1 to 128 URL-safe characters"],
  [{ ...event, concurrency: 3 }, "concurrency", "must be an object"],
  [{ ...event, concurrency: { limit: 1, key: "a..b" } }, "concurrency.key", "must be names separated by dots"],
  [{ ...event, concurrency: { limit: 1, per: "a" } }, "concurrency.per", "is not a known key"],
  [{ ...event, idempotency: "" }, "idempotency", "must be a string of 1 to 256 characters"],
  [{ event: "" }, "event", "must be a string"],
  [{ event: 1 }, "event", "must be a string"],
  [{ event: [] }, "event", "must not be empty"],
  [{ event: ["a", null] }, "event[1]", "must be a string"],
  [{ event: "a*b" }, "event", "may have * at its end only"],
  [{ event: "**" }, "event", "may have * at its end only"],
  [{ event: "svc:call" }, "event", "must not start with svc:"],
  [{ event: ["a", "a"] }, "event", "names an event type twice"],
  [{ event: "x".repeat(257) }, "event", "must be a string of 1 to 256"],
  [{ schedule: "every day" }, "schedule", "must have five fields"],
  [{ schedule: "* * * *" }, "schedule", "must have five fields"],
  [{ schedule: "60 * * * *" }, "schedule", "is not a cron expression"],
  [{ schedule: "H * * * *" }, "schedule", "must not use H"],
  [{ schedule: "* * * * HH" }, "schedule", "must not use H"],
  [{ schedule: "H(1-3)H * * * THU" }, "schedule", "must not use H"],
  [{ schedule: "0 0 31 2 *" }, "schedule", "is not a cron expression"],
  [{ schedule: [{ cron: "a b c d e" }] }, "schedule[0].cron", "is not a cron expression"],
  [{ schedule: { cron: "* * * * *", tz: "UTC" } }, "schedule.tz", "is not a known key"],
  [{ schedule: { timezone: "UTC" } }, "schedule.cron", "must be a string"],
  [{ schedule: { cron: "* * * * *", timezone: "Mars/Olympus" } }, "schedule.timezone", "is not the name"],
  [{ schedule: { cron: "* * * * *", timezone: "local" } }, "schedule.timezone", "is not the name"],
  [{ schedule: { cron: "* * * * *", timezone: null } }, "schedule.timezone", "is not the name"],
  [{ schedule: null }, "schedule", "must be an object"],
  [{ ...event, onFailure: 1 }, "onFailure", "must be a string of 1 to 513 characters"],
  [{ ...event, onFailure: "main/none" }, "onFailure", 'must be a function of the build (got "main/none")'],
  [{ ...event, onFailure: "main/go" }, "onFailure", "must be another function"],
  [
    { event: "svc:run:started" },
    "event",
    "must not start with svc:, which is reserved, except svc:run:failed, svc:canary:promoted"
  ],
  [{ event: "svc:run:*" }, "event", "must not start with svc:"],
  [
    { event: ["a", "svc:run:failed"], idempotency: "run_id" },
    "idempotency",
    "must not be set for a function that handles svc:run:failed"
  ],
  [
    { event: "svc:run:failed", singleton: {} },
    "singleton",
    "must not be set for a function that handles svc:run:failed"
  ],
  [retry({ attempts: 0 }), "retry.attempts", "must be a number from 1 to 100"],
  [retry({ attempts: 101 }), "retry.attempts", "must be a number from 1 to 100"],
  [retry({ attempts: 1.5 }), "retry.attempts", "must be an integer"],
  [retry({ attempts: "3" }), "retry.attempts", "must be an integer"],
  [retry({ delay: "soon" }), "retry.delay", "must be a duration"],
  [retry({ delay: "366d" }), "retry.delay", "must be from 0 ms"],
  [retry({ backoff: 0.5 }), "retry.backoff", "must be a number from 1"],
  [retry({ max_delay: -1 }), "retry.max_delay", "must be a duration"],
  [retry({ jitter: "yes" }), "retry.jitter", "must be true or false"],
  [retry({ times: 3 }), "retry.times", "is not a known key"],
  [{ ...event, retry: 3 }, "retry", "must be an object"],
  [{ ...event, timeout: "61m" }, "timeout", "must be from 1 ms to 3600000 ms"],
  [{ ...event, timeout: 0 }, "timeout", "must be from 1 ms"],
  [{ ...event, timeout: {} }, "timeout", "must be a duration"],
  [{ ...event, retention: "59m" }, "retention", "must be from 3600000 ms to"],
  [{ ...event, retention: true }, "retention", "must be a duration"],
  [{ ...event, description: 1 }, "description", "must be a string"],
  [{ webhook: { path: "/p" } }, "webhook.service", "must be 1 to 128 URL-safe"],
  [hook({ service: "a b" }), "webhook.service", "must be 1 to 128 URL-safe"],
  [hook({ service: "a/b" }), "webhook.service", "must be 1 to 128 URL-safe"],
  [hook({ service: ".." }), "webhook.service", "must be 1 to 128 URL-safe"],
  [{ webhook: { service: "s" } }, "webhook.path", "must be a URL path"],
  [hook({ path: "" }), "webhook.path", "must be a URL path"],
  [hook({ path: "/a b" }), "webhook.path", "must be a URL path"],
  [hook({ path: "/a?b" }), "webhook.path", "must be a URL path"],
  [hook({ path: "/a%zz" }), "webhook.path", "must be a URL path"],
  [hook({ path: "/a/../b" }), "webhook.path", "must have no segment"],
  [hook({ method: "get" }), "webhook.method", "must be one of GET, PUT, PATCH, DELETE, POST"],
  [hook({ method: "HEAD" }), "webhook.method", "must be one of"],
  [hook({ auth: true }), "webhook.auth", "must be one of none, required"],
  [hook({ name: "" }), "webhook.name", "must be a string"],
  [hook({ public: true }), "webhook.public", "is not a known key"],
  [{ webhook: [webhook] }, "webhook", "must be an object"],
  [{ webhook, "secret-headers": "x" }, "secret-headers", "must be an array"],
  [{ webhook, "secret-headers": ["x", "a b"] }, "secret-headers[1]", "must be the name of a header"],
  [{ tool: { name: "t" } }, "tool.service", "must be 1 to 128 URL-safe"],
  [{ tool: { service: "s", input: [] } }, "tool.input", "must be an object"],
  [{ tool: { service: "s", input: "{}" } }, "tool.input", "must be an object"],
  [{ webhook, record: "later" }, "record", "must be one of before, after, failures, none"],
  [{ webhook, record: true }, "record", "must be one of before, after, failures, none"],
  [{ webhook, event: "a", record: "none" }, "record", "must be before for a function with an event or a schedule"],
  [{ tool: { service: "s" }, schedule: "* * * * *", record: "after" }, "record", "must be before for a function with"],
  [{ event: "a", durable: true, record: "after" }, "record", "must be before for a function with an event"],
  [
    { durable: true, record: "failures" },
    "record",
    "must be before for a function without a webhook, tool, resource or prompt"
  ],
  [
    { record: "none" },
    "record",
    "must be before for a function without a webhook, tool, resource or prompt (got none)"
  ],
  [{ tool: { service: "s", result: {} } }, "tool.result", "is not a known key"],
  [{ tool: { service: "s", output: true } }, "tool.output", "must be an object: the JSON Schema of the result"],
  [{ tool: { service: "s", title: "" } }, "tool.title", "must be a string of 1 to 256 characters"],
  [{ tool: { service: "s", annotations: { title: "t" } } }, "tool.annotations.title", "is not a known key"],
  [
    { tool: { service: "s", annotations: { readOnlyHint: 1 } } },
    "tool.annotations.readOnlyHint",
    "must be true or false"
  ],
  [{ resource: { service: "s" } }, "resource.uri", "must be an absolute URI"],
  [{ resource: { service: "s", uri: "no-scheme" } }, "resource.uri", "must be an absolute URI"],
  [{ resource: { service: "s", uri: "a://{b}{c}" } }, "resource.uri", "must be an absolute URI"],
  [{ resource: { service: "s", uri: "a://{b}/{b}" } }, "resource.uri", "must be an absolute URI"],
  [{ resource: { service: "s", uri: "a://b{" } }, "resource.uri", "must be an absolute URI"],
  [{ resource: { service: "s", uri: "a://b", mimeType: "text" } }, "resource.mimeType", "must be a media type"],
  [{ resource: { service: "s", uri: "a://b", complete: { c: [] } } }, "resource.complete.c", "is not a known key"],
  [
    { resource: { service: "s", uri: "a://{c}", complete: { c: "x" } } },
    "resource.complete.c",
    "must be a function of the build, as in"
  ],
  [
    { resource: { service: "s", uri: "a://{c}", complete: { c: "x/y" } } },
    "resource.complete.c",
    'must be a function of the build (got "x/y")'
  ],
  [{ resource: { service: "s", uri: "a://{c}" }, durable: true }, "durable", "must not be set"],
  [{ prompt: {} }, "prompt.service", "must be 1 to 128 URL-safe"],
  [{ prompt: { service: "s", arguments: {} } }, "prompt.arguments", "must be an array"],
  [{ prompt: { service: "s", arguments: [{}] } }, "prompt.arguments[0].name", "must be a string"],
  [
    { prompt: { service: "s", arguments: [{ name: "a" }, { name: "a" }] } },
    "prompt.arguments",
    "names an argument twice"
  ],
  [
    { prompt: { service: "s", arguments: Array(33).fill({ name: "a" }) } },
    "prompt.arguments",
    "must have at most 32 arguments (got 33)"
  ],
  [
    { prompt: { service: "s", arguments: [{ name: "a", complete: [1] }] } },
    "prompt.arguments[0].complete[0]",
    "must be a string"
  ],
  [
    { prompt: { service: "s", arguments: [{ name: "a", complete: "no/fn" }] } },
    "prompt.arguments[0].complete",
    'must be a function of the build (got "no/fn")'
  ]
]

describe("readManifest", () => {
  it.effect("resolves the function of onFailure with its options", () =>
    Effect.gen(function* () {
      const undo = fn({ timeout: "1s", retry: { attempts: 3 }, event: "svc:run:failed" }, "undo")
      const manifest = yield* read(undo, fn({ event: "a", schedule: "* * * * *", onFailure: "main/undo" }))
      yield* Schema.decodeUnknownEffect(Manifest)(manifest)
      const on_failure = {
        ...{ ns: "main", var: "undo" },
        retry: { ...noRetry, attempts: 3 },
        timeout_ms: 1000,
        durable: false
      }
      for (const entry of [manifest.functions[1], manifest.handlers[1], manifest.schedules[0]]) {
        assert.deepInclude(entry, { var: "go", on_failure })
      }
      assert.notProperty(manifest.functions[0], "on_failure")
    })
  )
})

describe("readManifest rejects", () => {
  it.effect.each(cases)("%j: %s %s", ([meta, field, reason]) =>
    Effect.gen(function* () {
      const message = yield* reasonFor(fn({ event: "fine" }, "fine"), fn(meta))
      assert.include(message, `${go.ns}/${go.var}: meta${field === "" ? "" : "."}${field} ${reason}`)
    })
  )

  it.effect("a function of onFailure that is not called once for each failure", () =>
    Effect.gen(function* () {
      const once = "must be a function without concurrency, idempotency and flow control"
      for (const meta of [{ concurrency: { limit: 1 } }, { idempotency: "id" }, { ttl: "1m" }]) {
        const message = yield* reasonFor(fn(meta, "undo"), fn({ event: "a", onFailure: "main/undo" }))
        assert.include(message, `main/go: meta.onFailure ${once}`)
        assert.include(message, '(got "main/undo")')
      }
    })
  )

  it.effect("names of more than 256 characters in a part, and shows their beginning", () =>
    Effect.gen(function* () {
      yield* read(fn({}, "x".repeat(256), "n".repeat(256)))
      for (const long of [fn({}, "x".repeat(257)), fn(undefined, "go", "x".repeat(1_000_000))]) {
        const message = yield* reasonFor(long)
        assert.match(message, /^The name of the function ".*x{250}.*" must be .*up to 256 characters in each part$/)
        assert.isBelow(message.length, 1000)
      }
    })
  )

  it.effect("more than 2000 event types and schedules in total", () =>
    Effect.gen(function* () {
      const types = (from: number, count: number) => Array.from({ length: count }, (_, n) => `e${from + n}`)
      const most = [fn({ event: types(0, 1000) }, "a"), fn({ event: types(1000, 998), schedule: "* * * * *" }, "b")]
      const { handlers, schedules } = yield* read(...most, fn({ event: "one" }, "c"))
      assert.strictEqual(handlers.length + schedules.length, 2000)
      const began = performance.now()
      const many = fn({ schedule: Array.from({ length: 100_000 }, () => "* * * * *") }, "d")
      for (const more of [fn({ schedule: ["* * * * *", "0 * * * *"] }, "c"), many]) {
        assert.match(yield* reasonFor(...most, more), /^meta\.event and meta\.schedule .* over 2000 event types and/)
      }
      assert.isBelow(performance.now() - began, 1000)
    })
  )
})
