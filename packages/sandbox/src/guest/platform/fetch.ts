/** `fetch`: the host sends the request, as far as its policy allows. */
import type { HostCaller } from "../Bridge.ts"
import { encodeBytes } from "./base64.ts"
import { release } from "./body.ts"
import { FetchExchange, failed } from "./fetch-exchange.ts"
import { host } from "./host.ts"
import { roomFor, writeBody } from "./host-bytes.ts"
import { Request, type RequestInit } from "./request.ts"
import { fetched, type Response, withoutBody } from "./response.ts"
import type { ReadableStream } from "./streams.ts"
import type { URL } from "./url/url.ts"

export const fetch = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init)
  const call = host().caller()
  if (call === undefined) {
    throw failed("no run is in progress")
  }
  request.signal.throwIfAborted()
  return send(request, call)
}

const send = async (request: Request, call: HostCaller): Promise<Response> => {
  const { method, url, redirect, signal } = request
  const exchange = new FetchExchange(call, signal)
  const body = release(request)
  const head = JSON.stringify({ id: exchange.id, method, url, redirect, headers: [...request.headers] }).slice(0, -1)
  // Each character of the head takes two bytes at most: headers are latin1, the rest is ASCII.
  const isWhole = body instanceof Uint8Array && body.length <= roomFor(head.length * 2)
  const answer = exchange.start(`${head},"body":${isWhole ? whole(body) : announced(body)}}`)
  if (body !== null && !isWhole) {
    void upload(exchange, body)
  }
  const response = await answer
  if (method === "HEAD" || withoutBody.includes(response.status)) {
    exchange.cancel()
    return fetched(response, null)
  }
  return fetched(response, exchange)
}

const whole = (bytes: Uint8Array): string => `{"bytes":"${encodeBytes(bytes)}"}`

const announced = (body: Uint8Array | ReadableStream<unknown> | null): string =>
  body === null ? "null" : `{"length":${body instanceof Uint8Array ? body.length : "null"}}`

/** Sends the body piece by piece, each when the one before has gone. What goes wrong ends the exchange. */
const upload = async (exchange: FetchExchange, body: Uint8Array | ReadableStream<unknown>): Promise<void> => {
  try {
    const room = roomFor(0)
    if (room <= 0) {
      throw failed("the host's limits leave no room for a body")
    }
    await writeBody(
      body,
      room,
      (base64, done) => exchange.write(base64, done),
      () => failed("a chunk of the request's body is not a Uint8Array")
    )
  } catch (error) {
    exchange.stop(error)
  }
}
