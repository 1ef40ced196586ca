import { assert, describe, it } from "@effect/vitest"
import { Calls, Events, layer, RunControl, Webhooks } from "@weft/core"
import { JournalStore, NodeId, RunId, Sandbox, Timestamp } from "@weft/core/adapter"
import { formatTraceparent } from "@weft/core/internal"
import { MemoryStores, type TrustedFunction, trustedSandbox } from "@weft/core/testing"
import { endOf, inSpan, parentOf, SpanRecorder } from "@weft/tooling/tracing"
import { Clock, Effect, Layer, Logger, References, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { allRuns, asHost, deployed, masterKeys, publish, runsOf, settle, world } from "../../world.ts"

const handler = (meta: object, fn: (...args: ReadonlyArray<never>) => unknown): TrustedFunction =>
  Object.assign(fn, { meta })

interface Svc {
  readonly run: { readonly attempt: number }
  readonly events: { readonly publish: (event: object) => Promise<unknown> }
  readonly call: (fn: string, args: ReadonlyArray<unknown>) => Promise<unknown>
}

const secret = "4111 1111 1111 1111"

const modules = {
  shop: {
    main: {
      order: handler({ event: "order" }, async (_event: unknown, svc: Svc) => {
        await svc.events.publish({ type: "paid", data: { card: secret } })
        await svc.call("main/ship", [secret])
        return secret
      }),
      paid: handler({ event: "paid" }, () => null),
      ship: handler({}, () => "shipped"),
      flaky: handler(
        { event: "flaky", retry: { attempts: 3, delay: "1s", backoff: 2, jitter: false } },
        (_event: unknown, svc: Svc) => {
          if (svc.run.attempt < 3) throw new TypeError(secret)
          return null
        }
      ),
      named: handler({ event: "named" }, () => {
        throw Object.assign(new Error("no"), { name: secret })
      }),
      slow: handler({ event: "slow", timeout: "10s" }, () => new Promise(() => {})),
      many: handler({ event: "many" }, async (_event: unknown, svc: Svc) => {
        for (let n = 0; n < 300; n++) await svc.call("main/absent", []).catch(() => undefined)
      }),
      hook: handler({ webhook: { service: "shop", method: "POST", path: "/hook" } }, () => ({ ok: true })),
      tick: handler({ schedule: "0 * * * *" }, () => null)
    }
  }
}

const outer = Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" })

const withTracer = <A, E>(recorder: SpanRecorder, body: Effect.Effect<A, E, Layer.Success<ReturnType<typeof world>>>) =>
  Effect.provide(body, Layer.provideMerge(world(modules), recorder.layer))

describe("a trace", () => {
  it.effect("joins the host's span, the event, its runs and their host calls", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* inSpan(outer)(publish(env, "order", { card: secret }))
        yield* settle

        const published = recorder.one("publish order")
        assert.strictEqual(published.kind, "producer")
        assert.strictEqual(parentOf(published), outer.spanId)
        const run = recorder.one("run main/order")
        assert.strictEqual(run.kind, "consumer")
        assert.strictEqual(parentOf(run), published.spanId)
        assert.strictEqual(endOf(run), "ok")
        const [stored] = (yield* allRuns(env)).filter((each) => each.var === "order")
        const { run_id, event_id, build_id } = stored ?? assert.fail("the run is not stored")
        assert.deepStrictEqual(Object.fromEntries(run.attributes), {
          "weft.run_id": run_id,
          "weft.function": "main/order",
          "weft.run_type": "event",
          "weft.attempt": 1,
          "weft.env_id": env.env_id,
          "weft.project": "shop",
          "weft.build_id": build_id,
          "messaging.system": "weft",
          "messaging.operation.type": "process",
          "messaging.message.id": event_id,
          "weft.outcome": "Returned",
          "weft.cpu_ms": 0
        })
        const call = recorder.one("svc.events.publish")
        assert.strictEqual(parentOf(call), run.spanId)
        assert.strictEqual(parentOf(recorder.one("publish paid")), call.spanId)
        assert.strictEqual(parentOf(recorder.one("run main/paid")), recorder.one("publish paid").spanId)
        assert.strictEqual(parentOf(recorder.one("svc.call")), run.spanId)
        assert.strictEqual(recorder.one("run main/ship").traceId, outer.traceId)
        assert.deepStrictEqual([...new Set(recorder.all.map((span) => span.traceId))], [outer.traceId])
        assert.notInclude(JSON.stringify(recorder.all.map((span) => [span.name, ...span.attributes])), secret)
        assert.deepStrictEqual(
          recorder.all.filter((span) => endOf(span) !== "ok"),
          []
        )
      })
    )
  })

  it.effect("continues over retries: each attempt is a child of the publication", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* inSpan(outer)(publish(env, "flaky"))
        yield* settle
        yield* TestClock.adjust("1 minute")
        yield* settle
        const attempts = recorder.named("run main/flaky")
        assert.deepStrictEqual(
          attempts.map((span) => [span.attributes.get("weft.attempt"), span.attributes.get("error.type"), endOf(span)]),
          [
            [1, "TypeError", "TypeError"],
            [2, "TypeError", "TypeError"],
            [3, undefined, "ok"]
          ]
        )
        for (const span of attempts) {
          assert.strictEqual(span.traceId, outer.traceId)
          assert.strictEqual(parentOf(span), recorder.one("publish flaky").spanId)
        }
        const [first, second] = attempts
        assert.strictEqual(
          second?.attributes.get("weft.origin_run_id"),
          first?.attributes.get("weft.run_id") ?? "the first run"
        )
      })
    )
  })

  it.effect("continues in the runs of delayed events", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* inSpan(outer)(
          asHost(
            env,
            Events.use((events) => events.publish({ type: "paid", data: null, delay: "1h" }))
          )
        )
        yield* TestClock.adjust("61 minutes")
        yield* settle
        assert.strictEqual(recorder.one("run main/paid").traceId, outer.traceId)
      })
    )
  })

  it.effect("can be set by the host with a traceparent", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        const traceparent = formatTraceparent(outer)
        yield* asHost(
          env,
          Events.use((events) => events.publish({ type: "paid", data: null, traceparent }))
        )
        yield* asHost(env, Effect.forkChild(Calls.use((calls) => calls.call({ fn: "main/ship", traceparent }))))
        yield* asHost(
          env,
          Events.use((events) => events.publish({ type: "named", data: null, traceparent: "no such thing" }))
        )
        yield* settle
        assert.strictEqual(parentOf(recorder.one("publish paid")), outer.spanId)
        assert.strictEqual(recorder.one("run main/paid").traceId, outer.traceId)
        assert.strictEqual(recorder.one("run main/ship").traceId, outer.traceId)
        assert.isNull(parentOf(recorder.one("publish named")))
      })
    )
  })

  it.effect("stays unsampled if its first span is not sampled", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* inSpan({ ...outer, sampled: false })(publish(env, "order"))
        yield* settle
        assert.isAbove(recorder.all.length, 5)
        assert.deepStrictEqual(
          recorder.all.filter((span) => span.sampled),
          []
        )
      })
    )
  })

  it.effect("begins with each tick of a schedule", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        yield* deployed("shop")
        yield* TestClock.adjust("2 hours")
        yield* settle
        const ticks = recorder.named("run main/tick")
        assert.strictEqual(ticks.length, 2)
        assert.strictEqual(new Set(ticks.map((span) => span.traceId)).size, 2)
        assert.deepStrictEqual(
          recorder.all.filter((span) => !span.name.startsWith("run ")),
          []
        )
      })
    )
  })
})

describe("spans", () => {
  it.effect("of synchronous runs are children of the request's span", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        yield* deployed("shop")
        const call = {
          ...{ org: "shop", env: "production", service: "shop", path: "/hook", method: "POST" },
          ...{ url: "/webhook/shop/production/shop/hook", query: { token: secret }, headers: { cookie: secret } },
          ...{ body: null, remoteIp: "", token: "none" }
        }
        yield* inSpan(outer)(Webhooks.use((webhooks) => webhooks.handle(call)))
        const run = recorder.one("run main/hook")
        assert.strictEqual(run.kind, "internal")
        assert.strictEqual(parentOf(run), outer.spanId)
        assert.strictEqual(run.attributes.get("weft.run_type"), "call")
        assert.notInclude(JSON.stringify([...run.attributes]), secret)
      })
    )
  })

  it.effect("of cancelled runs end as interrupted, not as failed", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        const { event_id } = yield* publish(env, "slow")
        yield* settle
        const [run] = yield* runsOf(env, event_id)
        yield* asHost(
          env,
          RunControl.use((control) => control.cancel(run?.run_id ?? ""))
        )
        yield* settle
        const span = recorder.one("run main/slow")
        assert.strictEqual(endOf(span), "interrupted")
        assert.strictEqual(span.attributes.get("weft.outcome"), "Cancelled")
      })
    )
  })

  it.effect("never contain an error name that a guest chose", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* publish(env, "named")
        yield* settle
        assert.strictEqual(endOf(recorder.one("run main/named")), "Threw")
      })
    )
  })

  it.effect("of host calls are limited to 100 per run, and record how each call failed", () => {
    const recorder = new SpanRecorder()
    return withTracer(
      recorder,
      Effect.gen(function* () {
        const env = yield* deployed("shop")
        yield* publish(env, "many")
        yield* settle
        const calls = recorder.all.filter((span) => span.name.startsWith("svc."))
        assert.strictEqual(calls.length, 100)
        assert.deepStrictEqual(new Set(calls.map(endOf)), new Set(["BadRequest"]))
        assert.strictEqual(endOf(recorder.one("run main/many")), "ok")
      })
    )
  })
})

/** A world whose sandbox fails with a defect in every run. */
const brokenWorld = layer({ masterKeys }).pipe(
  Layer.provideMerge(MemoryStores.layer),
  Layer.provide(
    Layer.effect(
      Sandbox,
      Sandbox.use((sandbox) => Effect.succeed({ ...sandbox, invoke: () => Effect.die("broken") }))
    )
  ),
  Layer.provide(trustedSandbox(modules))
)

describe("logs", () => {
  it.effect("of a delivery carry its trace", () => {
    const recorder = new SpanRecorder()
    const logged: Array<readonly [unknown, string | undefined]> = []
    const logger = Logger.make(({ message, fiber }) => void logged.push([message, fiber.cache.span?.traceId]))
    return Effect.gen(function* () {
      const env = yield* deployed("shop")
      yield* inSpan(outer)(publish(env, "paid"))
      yield* settle
      assert.deepStrictEqual(logged, [[["A delivery failed with a defect"], outer.traceId]])
      assert.strictEqual(endOf(recorder.one("run main/paid")), "defect")
    }).pipe(Effect.provide(Layer.provideMerge(Layer.provideMerge(brokenWorld, recorder.layer), Logger.layer([logger]))))
  })
})

describe("without a tracer", () => {
  it.effect("no traceparent is stored with deliveries", () =>
    Effect.gen(function* () {
      const env = yield* deployed("shop")
      const later = { type: "paid", data: null, delay: "1h", traceparent: formatTraceparent(outer) }
      yield* Effect.withSpan(
        asHost(
          env,
          Events.use((events) => events.publish(later))
        ),
        "span of the native tracer"
      )
      const now = Timestamp.make((yield* Clock.currentTimeMillis) + 2 * 3_600_000)
      const { claims } = yield* JournalStore.use((journal) =>
        journal.claim({
          lease: { node_id: NodeId.make("01890000-0000-7000-8000-000000000001"), until: now },
          now,
          runIds: [RunId.make("01890000-0000-7000-8000-000000000002")],
          perEnv: 1,
          exclude: [],
          freed: []
        })
      )
      assert.strictEqual(claims[0]?.event.event_type, "paid")
      assert.notProperty(claims[0]?.delivery, "traceparent")
    }).pipe(Effect.provide(world(modules)), Effect.provideService(References.TracerEnabled, true))
  )
})
