/** With the OpenTelemetry SDK of a host, as it is set up in hosts. */
import { assert, describe, it } from "@effect/vitest"
import { type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor
} from "@opentelemetry/sdk-trace-node"
import { hostFunction } from "@weft/core"
import { hostTracer } from "@weft/opentelemetry/host"
import { afterAll, beforeAll } from "vitest"
import { eventually, startTenant, type Tenant } from "./Tenant.ts"

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })

interface Svc {
  readonly host: { readonly whoami: () => Promise<unknown> }
}

/** The spans in which the host's function found itself. */
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
  tenant = await startTenant(main, { tracing: hostTracer(), host: { whoami } })
})

afterAll(async () => {
  await tenant.weft.close()
  await provider.shutdown()
  trace.disable()
})

const host = trace.getTracer("host")

/** Within a span of the host. */
const inSpan = <A>(name: string, act: (span: Span) => Promise<A>): Promise<A> =>
  host.startActiveSpan(name, async (span) => {
    try {
      return await act(span)
    } finally {
      span.end()
    }
  })

const of = (traceId: string): ReadonlyArray<ReadableSpan> =>
  exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId)

const spanOf = async (traceId: string, name: string): Promise<ReadableSpan> => {
  await eventually(() => of(traceId).some((span) => span.name === name))
  return of(traceId).find((span) => span.name === name) ?? assert.fail()
}

const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId
const idOf = (span: ReadableSpan): string => span.spanContext().spanId

describe("the host's own tracer", () => {
  it("joins what the host does in a span, and what functions of the host do for guests", async () => {
    const outer = await inSpan("request", async (span) => {
      await tenant.env.events.publish({ type: "order", data: null })
      return span.spanContext()
    })
    const run = await spanOf(outer.traceId, "run main/order")
    const published = await spanOf(outer.traceId, "publish order")
    assert.strictEqual(parentOf(published), outer.spanId)
    assert.strictEqual(published.kind, SpanKind.PRODUCER)
    assert.strictEqual(parentOf(run), idOf(published))
    assert.strictEqual(run.kind, SpanKind.CONSUMER)
    const call = await spanOf(outer.traceId, "svc.host.whoami")
    assert.strictEqual(parentOf(call), idOf(run))
    assert.deepStrictEqual(active, [idOf(call)])
  })

  it("keeps apart what the host does at once", async () => {
    const publish = (n: number) =>
      inSpan(`request ${n}`, async (span) => {
        await new Promise((resolve) => setTimeout(resolve, n % 3))
        await tenant.env.events.publish({ type: "order", data: n })
        return span.spanContext()
      })
    const outer = await Promise.all(Array.from({ length: 50 }, (_, n) => publish(n)))
    for (const { traceId, spanId } of outer) {
      await spanOf(traceId, "run main/order")
      const published = of(traceId).filter((span) => span.name === "publish order")
      assert.deepStrictEqual(published.map(parentOf), [spanId])
    }
  })

  it("begins a trace where the host is in no span", async () => {
    const { event_id } = await tenant.env.events.publish({ type: "order", data: null })
    const message = (span: ReadableSpan) => span.attributes["messaging.message.id"]
    const isRoot = (span: ReadableSpan) => span.name === "publish order" && message(span) === event_id
    await eventually(() => exporter.getFinishedSpans().some(isRoot))
    assert.strictEqual(exporter.getFinishedSpans().filter(isRoot).map(parentOf)[0], undefined)
  })

  it("hears of failures by their names alone", async () => {
    const { traceId } = await inSpan("request", async (span) => {
      await tenant.env.events.publish({ type: "fails", data: null })
      return span.spanContext()
    })
    const { status, events } = await spanOf(traceId, "run main/fails")
    assert.deepStrictEqual(status, { code: SpanStatusCode.ERROR, message: "RangeError" })
    assert.notInclude(JSON.stringify(events), "a secret of the tenant")
  })
})
