/** `fetch`: the host sends the request if its policy allows it. */
import type { HostCaller } from "../Bridge.ts"
import { encodeBytes } from "./base64.ts"
import { release } from "./body.ts"
import { FetchSession, fetchError } from "./fetch-session.ts"
import { host } from "./host.ts"
import { payloadCapacity, writeBody } from "./host-bytes.ts"
import { modules } from "./modules.ts"
import { Request, type RequestInit } from "./request.ts"
import { fetched, type Response, withoutBody } from "./response.ts"
import type { ReadableStream } from "./streams.ts"
import type { URL } from "./url/url.ts"

export const fetch = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
  const request = new Request(input, init)
  request.signal.throwIfAborted()
  const local = fetchLocal(request)
  if (local !== null) {
    return local
  }
  const call = host().caller()
  if (call === undefined) {
    throw fetchError("no run is in progress")
  }
  return send(request, call)
}

/** Returns the response of a URL that contains it, or names an object of this isolate; null for other URLs. */
const fetchLocal = ({ url, method }: Request): Response | null => {
  const isData = url.startsWith("data:")
  if (!isData && !url.startsWith("blob:")) {
    return null
  }
  const response = isData ? modules.dataUrl().fetchData(url, method) : fetchBlob(url, method)
  if (response === null) {
    throw fetchError(`the ${isData ? "data" : "blob"} URL is invalid`)
  }
  return response
}

/** Set by the optional script: returns the response of an object URL, or null. */
let fetchBlob: (url: string, method: string) => Response | null = () => null

export const setBlobFetcher = (fetcher: typeof fetchBlob): void => {
  fetchBlob = fetcher
}

const send = async (request: Request, call: HostCaller): Promise<Response> => {
  const { method, url, redirect, signal } = request
  const session = new FetchSession(call, signal)
  const body = release(request)
  const head = JSON.stringify({ id: session.id, method, url, redirect, headers: [...request.headers] }).slice(0, -1)
  // Each character of the head takes at most two bytes: headers are Latin-1, the rest is ASCII.
  const isWhole = body instanceof Uint8Array && body.length <= payloadCapacity(head.length * 2)
  const sent = session.start(`${head},"body":${isWhole ? encodeWhole(body) : describeLength(body)}}`)
  if (body !== null && !isWhole) {
    void upload(session, body)
  }
  const response = await sent
  if (method === "HEAD" || withoutBody.includes(response.status)) {
    session.cancel()
    return fetched(response, null)
  }
  return fetched(response, session)
}

const encodeWhole = (bytes: Uint8Array): string => `{"bytes":"${encodeBytes(bytes)}"}`

const describeLength = (body: Uint8Array | ReadableStream<unknown> | null): string =>
  body === null ? "null" : `{"length":${body instanceof Uint8Array ? body.length : "null"}}`

/** Sends the body in chunks, each after the previous one was sent. An error fails the session. */
const upload = async (session: FetchSession, body: Uint8Array | ReadableStream<unknown>): Promise<void> => {
  try {
    const capacity = payloadCapacity(0)
    if (capacity <= 0) {
      throw fetchError("the host's limit of a host call is too small for a body")
    }
    await writeBody(
      body,
      capacity,
      (base64, done) => session.write(base64, done),
      () => fetchError("a chunk of the request's body is not a Uint8Array")
    )
  } catch (error) {
    session.stop(error)
  }
}
