/** Spans of host functions in the trace of the calling run. */
import { assert, it } from "@effect/vitest"
import { HostRefused, hostEffect, hostFunction } from "@weft/core"
import type { TrustedFunction, TrustedSvc } from "@weft/core/testing"
import { endOf, parentOf, SpanRecorder } from "@weft/tooling/tracing"
import { Effect, Schema } from "effect"
import { deployed, publish, runsOf, settle, world } from "../../../world.ts"

const order: TrustedFunction = Object.assign(
  async (event: { readonly event_data: string }, svc: TrustedSvc) => {
    const found = await svc.host.crm?.lookup?.(event.event_data)
    await svc.host.crm?.refuse?.().catch(() => undefined)
    return [found, await svc.host.nothing?.()]
  },
  { meta: { event: "order" } }
)

it.effect("creates a span per call of a host function, the parent of the function's spans", () => {
  const recorder = new SpanRecorder()
  return Effect.gen(function* () {
    const lookup = hostEffect({ input: Schema.String, output: Schema.String }, (id) =>
      Effect.withSpan(Effect.succeed(`Ada ${id}`), "crm")
    )
    // Created in a span of the host's start, which is unrelated to its calls.
    const host = {
      "crm.lookup": yield* Effect.withSpan(lookup, "start"),
      "crm.refuse": hostFunction({}, () => {
        throw new HostRefused({ name: "NoWay", message: "4111 1111 1111 1111" })
      }),
      nothing: hostFunction({}, () => null)
    }
    const body = Effect.gen(function* () {
      const env = yield* deployed("shop")
      const { event_id } = yield* publish(env, "order", "7")
      yield* settle
      const [run] = yield* runsOf(env, event_id)
      assert.deepStrictEqual([run?.status, String(run?.result)], ["succeeded", '["Ada 7",null]'])
      const call = recorder.one("svc.host.crm.lookup")
      assert.strictEqual(parentOf(call), recorder.one("run main/order").spanId)
      assert.strictEqual(parentOf(recorder.one("crm")), call.spanId)
      assert.strictEqual(endOf(call), "ok")
      assert.strictEqual(endOf(recorder.one("svc.host.crm.refuse")), "NoWay")
      assert.notInclude(JSON.stringify(recorder.all.map((span) => [span.name, ...span.attributes])), "4111")
    })
    yield* Effect.provide(body, world({ shop: { main: { order } } }, { host }))
  }).pipe(Effect.provide(recorder.layer))
})
