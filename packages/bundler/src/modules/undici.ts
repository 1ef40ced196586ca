/** The package `undici`, Node's client of HTTP: `fetch` and `request` over the `fetch` of functions, without connections. */
import { Readable } from "node:stream"
import { notInFunctions, refuse } from "./refuse.ts"

export const { fetch, FormData, Headers, Request, Response } = globalThis

interface RequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body?: RequestInit["body"]
  readonly query?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

const toUrl = (url: string | URL, query: RequestOptions["query"] = {}): URL => {
  const target = new URL(url)
  for (const [name, value] of Object.entries(query)) target.searchParams.append(name, String(value))
  return target
}

const toHeaders = (given: RequestOptions["headers"] = {}): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    for (const each of [value ?? []].flat()) headers.append(name, each)
  }
  return headers
}

/** Redirects are not followed, as in undici. */
export const request = async (url: string | URL, options: RequestOptions = {}) => {
  const { method = "GET", headers, body = null, query, signal } = options
  const init = { method, headers: toHeaders(headers), body, redirect: "manual" } as const
  const response = await fetch(toUrl(url, query), signal === undefined ? init : { ...init, signal })
  const stream =
    response.body === null ? Readable.from([]) : Readable.fromWeb(response.clone().body ?? new ReadableStream())
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    trailers: {},
    body: Object.assign(stream, {
      json: () => response.json(),
      text: () => response.text(),
      arrayBuffer: () => response.arrayBuffer(),
      bytes: async () => new Uint8Array(await response.arrayBuffer()),
      blob: () => response.blob(),
      dump: async () => void (await response.body?.cancel())
    })
  }
}

/** Connections belong to the host: a dispatcher has options only. */
export class Dispatcher {
  readonly options: unknown
  constructor(...given: ReadonlyArray<unknown>) {
    this.options = given.at(-1)
  }
  async close(): Promise<void> {}
  async destroy(): Promise<void> {}
  compose(): this {
    return this
  }
  dispatch(): never {
    throw notInFunctions("undici.Dispatcher.dispatch", "use `request` or `fetch` of undici")
  }
}

export class Agent extends Dispatcher {}
export class Client extends Dispatcher {}
export class Pool extends Dispatcher {}
export class BalancedPool extends Dispatcher {}
export class RetryAgent extends Dispatcher {}
export class ProxyAgent extends Dispatcher {}
export class EnvHttpProxyAgent extends Dispatcher {}

let globalDispatcher: unknown = new Agent()
export const getGlobalDispatcher = (): unknown => globalDispatcher
export const setGlobalDispatcher = (dispatcher: unknown): void => {
  globalDispatcher = dispatcher
}

const use = "use `request` or `fetch` of undici"
export const connect = refuse("undici.connect", use)
export const pipeline = refuse("undici.pipeline", use)
export const stream = refuse("undici.stream", use)
export const upgrade = refuse("undici.upgrade", use)
export const MockAgent = refuse("undici.MockAgent")
export const WebSocket: unknown = Reflect.get(globalThis, "WebSocket")
export const CloseEvent: unknown = Reflect.get(globalThis, "CloseEvent")
export const EventSource: unknown = Reflect.get(globalThis, "EventSource")
export const interceptors = {}
export const errors = {}
export const install = (): void => undefined

import * as all from "./undici.ts"
export default /* @__PURE__ */ Object.assign({}, all)
