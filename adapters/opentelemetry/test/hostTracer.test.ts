/** Tracing with the OpenTelemetry SDK of the host. */
import { assert, describe, it } from "@effect/vitest"
import { type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor
} from "@opentelemetry/sdk-trace-node"
import { hostFunction } from "@weft/core"
import { tracing } from "@weft/opentelemetry/host"
import { afterAll, beforeAll } from "vitest"
import { eventually, startTenant, type Tenant } from "./Tenant.ts"

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

interface Svc {
  readonly host: { readonly whoami: () => Promise<unknown> }
}

/** Ids of the active spans in calls of the host function. */
const active: Array<string | undefined> = []

let tenant: Tenant

beforeAll(async () => {
  provider.register()
  const main = {
    order: Object.assign((_event: unknown, svc: Svc) => svc.host.whoami(), { meta: { event: "order" } }),
    fails: Object.assign(
      () => {
        throw new RangeError("a secret of the tenant")
      },
      { meta: { event: "fails" } }
    )
  }
  const whoami = hostFunction({}, () => {
    active.push(trace.getActiveSpan()?.spanContext().spanId)
  })
  tenant = await startTenant(main, { tracing: tracing(), host: { whoami } })
})

afterAll(async () => {
  await tenant.weft.close()
  await provider.shutdown()
  trace.disable()
})

const host = trace.getTracer("host")

/** Runs `act` within a span of the host. */
const inSpan = <A>(name: string, act: (span: Span) => Promise<A>): Promise<A> =>
  host.startActiveSpan(name, async (span) => {
    try {
      return await act(span)
    } finally {
      span.end()
    }
  })

const listSpans = (traceId: string): ReadonlyArray<ReadableSpan> =>
  exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)

const findSpan = async (traceId: string, name: string): Promise<ReadableSpan> => {
  await eventually(() => listSpans(traceId).some((span) => span.name === name))
  return listSpans(traceId).find((span) => span.name === name) ?? assert.fail()
}

const parentId = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId
const spanId = (span: ReadableSpan): string => span.spanContext().spanId

describe("the host's own tracer", () => {
  it("links calls in a span of the host, and calls of host functions by guests", async () => {
    const outer = await inSpan("request", async (span) => {
      await tenant.env.events.publish({ type: "order", data: null })
      return span.spanContext()
    })
    const run = await findSpan(outer.traceId, "run main/order")
    const published = await findSpan(outer.traceId, "publish order")
    assert.strictEqual(parentId(published), outer.spanId)
    assert.strictEqual(published.kind, SpanKind.PRODUCER)
    assert.strictEqual(parentId(run), spanId(published))
    assert.strictEqual(run.kind, SpanKind.CONSUMER)
    const call = await findSpan(outer.traceId, "svc.host.whoami")
    assert.strictEqual(parentId(call), spanId(run))
    assert.deepStrictEqual(active, [spanId(call)])
  })

  it("separates concurrent spans of the host", async () => {
    const publish = (n: number) =>
      inSpan(`request ${n}`, async (span) => {
        await new Promise((resolve) => setTimeout(resolve, n % 3))
        await tenant.env.events.publish({ type: "order", data: n })
        return span.spanContext()
      })
    const outer = await Promise.all(Array.from({ length: 50 }, (_, n) => publish(n)))
    for (const { traceId, spanId } of outer) {
      await findSpan(traceId, "run main/order")
      const published = listSpans(traceId).filter((span) => span.name === "publish order")
      assert.deepStrictEqual(published.map(parentId), [spanId])
    }
  })

  it("starts a trace if the host has no active span", async () => {
    const { event_id } = await tenant.env.events.publish({ type: "order", data: null })
    const message = (span: ReadableSpan) => span.attributes["messaging.message.id"]
    const isRoot = (span: ReadableSpan) => span.name === "publish order" && message(span) === event_id
    await eventually(() => exporter.getFinishedSpans().some(isRoot))
    assert.strictEqual(exporter.getFinishedSpans().filter(isRoot).map(parentId)[0], undefined)
  })

  it("receives only the names of failures", async () => {
    const { traceId } = await inSpan("request", async (span) => {
      await tenant.env.events.publish({ type: "fails", data: null })
      return span.spanContext()
    })
    const { status, events } = await findSpan(traceId, "run main/fails")
    assert.deepStrictEqual(status, { code: SpanStatusCode.ERROR, message: "RangeError" })
    assert.notInclude(JSON.stringify(events), "a secret of the tenant")
  })
})
