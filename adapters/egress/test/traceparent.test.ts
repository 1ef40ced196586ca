/** To whom it is told which trace a request belongs to. */
import { assert, describe, it } from "@effect/vitest"
import { type EgressRequest, traceparentOf } from "@weft/core"
import { outbound } from "@weft/egress"
import { Effect, Tracer } from "effect"
import { ask, refusal, serve } from "./Servers.ts"

const span = Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" })
const tracer = Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })

/** `/to/LOCATION` redirects; anything else answers with the traceparent that arrived. */
const server = serve((request, response) => {
  const [, location] = /^\/to\/(.*)$/.exec(request.url ?? "") ?? []
  if (location === undefined) response.end(request.headers.traceparent ?? "none")
  else response.writeHead(307, { location: decodeURIComponent(location) }).end()
})

const policy = (...traceparent: ReadonlyArray<string>) =>
  outbound({ policy: { allow: ["127.0.0.1", "localhost"], traceparent } })

const told = (url: string, request: Partial<EgressRequest> = {}) =>
  Effect.map(
    Effect.withTracer(Effect.provideService(ask(url, request), Tracer.ParentSpan, span), tracer),
    ({ body }) => body
  )

describe("traceparent", () => {
  it.live("is told to nobody by default", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      assert.strictEqual(yield* told(url), "none")
    }).pipe(Effect.scoped, Effect.provide(policy()))
  )

  it.live("is told to whom the host names, by name and by address", () =>
    Effect.gen(function* () {
      const { url, port } = yield* server
      assert.strictEqual(yield* told(url), traceparentOf(span))
      assert.strictEqual(yield* told(`http://localhost:${port}`), traceparentOf(span))
    }).pipe(Effect.scoped, Effect.provide(policy("127.0.0.0/8", "localhost")))
  )

  it.live("is told on the way of redirects only to them", () =>
    Effect.gen(function* () {
      const [stranger, known] = [yield* server, yield* server]
      const asked = Effect.fnUntraced(function* (from: string, to: string) {
        return yield* told(`${from}/to/${encodeURIComponent(to)}`)
      })
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* asked(known.url, stranger.url), "none")
        assert.strictEqual(yield* asked(stranger.url, known.url), traceparentOf(span))
      }).pipe(Effect.provide(policy(`127.0.0.1:${known.port}`)))
    }).pipe(Effect.scoped)
  )

  it.live("of a guest's own stays, wherever it goes", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      assert.strictEqual(yield* told(url, { headers: [["Traceparent", "mine"]] }), "mine")
    }).pipe(Effect.scoped, Effect.provide(policy("127.0.0.1")))
  )

  it.live("is none without a tracer", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { body } = yield* Effect.provideService(ask(url), Tracer.ParentSpan, span)
      assert.strictEqual(body, "none")
    }).pipe(Effect.scoped, Effect.provide(policy("127.0.0.1")))
  )

  it.live("names who may know in the words of the policy", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(Effect.provide(refusal("http://127.0.0.1"), policy("no target")))
      assert.strictEqual("entry" in failure && failure.entry, "no target")
    })
  )
})
