/** A minimal OTLP collector over HTTP. */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

export interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: Readonly<Record<string, unknown>> }>
  readonly status: { readonly code: number; readonly message?: string }
}

interface Sent {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: SentSpan["attributes"] }
    readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<SentSpan> }>
  }>
}

export interface Collector {
  readonly url: string
  /** Returns all spans of a trace so far. */
  readonly spansOf: (traceId: string) => ReadonlyArray<SentSpan>
  /** Returns all received bodies as text. */
  readonly text: () => string
  /** Returns the values of a header in all requests. */
  readonly headers: (name: string) => ReadonlySet<string | undefined>
  readonly services: () => ReadonlySet<unknown>
  readonly close: () => Promise<void>
}

const readText = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

export const startCollector = async (): Promise<Collector> => {
  const texts: Array<string> = []
  const sent: Array<Sent> = []
  const requests: Array<IncomingMessage> = []
  const server = createServer(async (request, response) => {
    const text = await readText(request)
    requests.push(request)
    texts.push(text)
    if (request.url === "/v1/traces") sent.push(JSON.parse(text))
    response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const resources = () => sent.flatMap(({ resourceSpans }) => resourceSpans)
  return {
    url: `http://127.0.0.1:${port}`,
    spansOf: (traceId) =>
      resources()
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .filter((span) => span.traceId === traceId),
    text: () => texts.join("\n"),
    headers: (name) => new Set(requests.map((request) => request.headersDistinct[name]?.join())),
    services: () => new Set(resources().map(({ resource }) => attribute(resource.attributes, "service.name"))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

export const attribute = (attributes: SentSpan["attributes"], key: string): unknown => {
  const value = attributes.find((each) => each.key === key)?.value
  return value === undefined ? undefined : Object.values(value)[0]
}
