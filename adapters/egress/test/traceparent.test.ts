/** Destinations that receive the `traceparent` of a request. */
import { assert, describe, it } from "@effect/vitest"
import type { EgressRequest } from "@weft/core/adapter"
import { formatTraceparent } from "@weft/core/internal"
import { egress } from "@weft/egress"
import { Effect, Tracer } from "effect"
import { ask, refusal, serve } from "./Servers.ts"

const span = Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" })
const tracer = Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })

/** `/to/LOCATION` redirects; any other path returns the received traceparent. */
const server = serve((request, response) => {
  const [, location] = /^\/to\/(.*)$/.exec(request.url ?? "") ?? []
  if (location === undefined) response.end(request.headers.traceparent ?? "none")
  else response.writeHead(307, { location: decodeURIComponent(location) }).end()
})

const policy = (...traceparent: ReadonlyArray<string>) =>
  egress({ policy: { allow: ["127.0.0.1", "localhost"], traceparent } })

const receivedTrace = (url: string, request: Partial<EgressRequest> = {}) =>
  Effect.map(
    Effect.withTracer(Effect.provideService(ask(url, request), Tracer.ParentSpan, span), tracer),
    ({ body }) => body
  )

describe("traceparent", () => {
  it.live("is not sent by default", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      assert.strictEqual(yield* receivedTrace(url), "none")
    }).pipe(Effect.scoped, Effect.provide(policy()))
  )

  it.live("is sent to the destinations that the host lists, by name and by address", () =>
    Effect.gen(function* () {
      const { url, port } = yield* server
      assert.strictEqual(yield* receivedTrace(url), formatTraceparent(span))
      assert.strictEqual(yield* receivedTrace(`http://localhost:${port}`), formatTraceparent(span))
    }).pipe(Effect.scoped, Effect.provide(policy("127.0.0.0/8", "localhost")))
  )

  it.live("is sent on redirects only to these destinations", () =>
    Effect.gen(function* () {
      const [stranger, known] = [yield* server, yield* server]
      const asked = Effect.fnUntraced(function* (from: string, to: string) {
        return yield* receivedTrace(`${from}/to/${encodeURIComponent(to)}`)
      })
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* asked(known.url, stranger.url), "none")
        assert.strictEqual(yield* asked(stranger.url, known.url), formatTraceparent(span))
      }).pipe(Effect.provide(policy(`127.0.0.1:${known.port}`)))
    }).pipe(Effect.scoped)
  )

  it.live("set by the guest is always sent unchanged", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      assert.strictEqual(yield* receivedTrace(url, { headers: [["Traceparent", "mine"]] }), "mine")
    }).pipe(Effect.scoped, Effect.provide(policy("127.0.0.1")))
  )

  it.live("is not sent without a tracer", () =>
    Effect.gen(function* () {
      const { url } = yield* server
      const { body } = yield* Effect.provideService(ask(url), Tracer.ParentSpan, span)
      assert.strictEqual(body, "none")
    }).pipe(Effect.scoped, Effect.provide(policy("127.0.0.1")))
  )

  it.live("lists its destinations in the syntax of the policy", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(Effect.provide(refusal("http://127.0.0.1"), policy("no target")))
      assert.strictEqual("entry" in failure && failure.entry, "no target")
    })
  )
})
