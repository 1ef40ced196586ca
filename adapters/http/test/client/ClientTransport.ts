/**
 * Sends requests of the suite through `@weft/client`, and returns the client's interpretation of the response, so that
 * the suite tests it. Parts that the client does not expose, such as headers, are taken from the wire.
 */
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { createClient, type Page, WeftError } from "@weft/client"
import { inject } from "vitest"
import { byFetch, type Transport, type TransportRequest } from "../server/Transport.ts"
import { type Route, routeOf } from "./Route.ts"

/** One request and its response on the wire. */
interface Wire {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** The folder of the request counts: see `Tally.ts`. */
const tally = join(inject("clientTally"), String(process.pid))

export const byClient: Transport = (testRequest) => {
  const route = routeOf(testRequest)
  const isRoute = typeof route === "object"
  appendFileSync(tally, `${isRoute ? `client ${route.operationId}` : `other ${route}`}\n`)
  return isRoute ? through(route, testRequest) : byFetch(testRequest)
}

const through = async (route: Route, testRequest: TransportRequest): Promise<Response> => {
  const sent: Array<Promise<Wire>> = []
  const observed: typeof fetch = async (input, init) => {
    if (sent.length > 0) throw new TypeError("One call sends one request: subscriptions must not reconnect")
    checkRequest(testRequest, input, init)
    const response = await fetch(input, init)
    const { status, headers } = response
    const copy = response.clone()
    sent.push(copy.text().then((text) => ({ status, headers, text })))
    return response
  }
  const { url, token } = testRequest
  const weft = createClient({
    baseUrl: url,
    token: token ?? undefined,
    adminToken: token ?? undefined,
    fetch: observed,
    retry: false
  })
  const answer = await callMethod(weft, route).then(
    (value: unknown) => ({ value }),
    (error: unknown) => ({ error })
  )
  const [wire] = await Promise.all(sent)
  if (wire === undefined) throw "error" in answer ? answer.error : new Error(`${route.operationId} sent nothing`)
  assert.lengthOf(sent, 1)
  return "error" in answer ? failureOf(answer.error, wire) : successOf(answer.value, wire)
}

/** Methods whose names differ from those of their endpoints. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["filesUpload", "filesPut"],
  ["streamsSubscribe", "streamsWatch"],
  ["streamsSubscribeEnv", "streamsWatchEnv"],
  ["streamsSubscribeWithEvent", "streamsPublishAndWatch"]
])

const call = async (weft: object, { operationId, args }: Route): Promise<unknown> => {
  const name = otherNames.get(operationId) ?? operationId
  const group = Object.keys(weft).find((one) => name.startsWith(one) && /^[A-Z]/.test(name.slice(one.length))) ?? ""
  const method = `${name.charAt(group.length).toLowerCase()}${name.slice(group.length + 1)}`
  const methods: object = Reflect.get(weft, group)
  return Reflect.apply(Reflect.get(methods, method), methods, args)
}

/** Collects the messages of a subscription until its server ends it. */
class ReceivedEvents {
  readonly events: ReadonlyArray<string>

  constructor(events: ReadonlyArray<string>) {
    this.events = events
  }
}

const callMethod = async (weft: object, route: Route): Promise<unknown> => {
  const value = await call(weft, route)
  return isSubscription(value) ? receiveUntil(value) : value
}

const isSubscription = (value: unknown): value is AsyncIterable<{ readonly event: string }> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value

const receiveUntil = async (messages: AsyncIterable<{ readonly event: string }>): Promise<ReceivedEvents> => {
  const events: Array<string> = []
  try {
    for await (const { event } of messages) events.push(event)
  } catch (error) {
    // Any other failure comes from the rejected reconnect.
    if (error instanceof WeftError) throw error
  }
  return new ReceivedEvents(events)
}

/** Asserts that the client sends the request of the test. Paths may be encoded differently. */
const checkRequest = (testRequest: TransportRequest, ...[input, init]: Parameters<typeof fetch>): void => {
  const [mine, theirs] = [new URL(String(input)), new URL(`${testRequest.url}${testRequest.path}`)]
  assert.strictEqual(init?.method, testRequest.method)
  assert.strictEqual(decodeURIComponent(mine.pathname), decodeURIComponent(theirs.pathname))
  assert.deepStrictEqual([...mine.searchParams].sort(), [...theirs.searchParams].sort())
  if (testRequest.json !== undefined) assert.strictEqual(init?.body, JSON.stringify(testRequest.json))
}

const failureOf = (error: unknown, { status, headers, text }: Wire): Response => {
  if (!(error instanceof WeftError)) throw error
  assert.strictEqual(error.status, status, text)
  const { code, message, requestId, retryAfter } = error
  const seconds = headers.get("retry-after")
  assert.strictEqual(retryAfter, seconds === null ? null : Number(seconds))
  return new Response(JSON.stringify({ error: { code, message, request_id: requestId } }), { status, headers })
}

const successOf = (value: unknown, { status, headers, text }: Wire): Response => {
  if (value instanceof Response) return value
  if (value instanceof ReceivedEvents) {
    assert.deepStrictEqual(value.events, eventsIn(text))
    return new Response(text, { status, headers })
  }
  if (value === undefined) {
    assert.strictEqual(text, "")
    return new Response(null, { status, headers })
  }
  if (typeof value === "string") return new Response(value, { status, headers })
  return new Response(JSON.stringify(enveloped(value, JSON.parse(text))), { status, headers })
}

const eventsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^event: ?(.*)$/gm)].map(([, event = ""]) => event)

interface Envelope {
  readonly data?: unknown
  readonly pagination?: object
  readonly meta?: object
}

/** Returns the envelope from the wire with the client's contents. */
const enveloped = (value: unknown, wire: Envelope): unknown => {
  if (isPage(value)) {
    const { items, total, limit, offset, has_more, ...more } = value
    assert.strictEqual(has_more, offset + items.length < total)
    const place = wire.pagination === undefined ? "meta" : "pagination"
    return { ...wire, ...more, data: items, [place]: { ...wire[place], total, limit, offset } }
  }
  return "data" in wire ? { ...wire, data: value } : value
}

const isPage = (value: unknown): value is Page<unknown> =>
  typeof value === "object" && value !== null && "items" in value && "has_more" in value
