/** Transports of the tests' requests: `fetch`, or `@weft/client` for requests that it supports. */
import { inject } from "vitest"
import type { CallOptions } from "./TestServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** True if requests that the client supports go through it. */
    readonly throughClient?: boolean
  }
}

export interface TransportRequest extends CallOptions {
  /** The server's URL, without a path. */
  readonly url: string
  readonly method: string
  /** The raw path, with its query. */
  readonly path: string
  readonly token: string | null
}

export type Transport = (request: TransportRequest) => Promise<Response>

export const byFetch: Transport = ({ url, method, path, token, json, body, headers = {} }) => {
  const sent = json === undefined ? body : JSON.stringify(json)
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(sent === undefined ? {} : { body: sent })
  })
}

export const transportOfRun: Transport =
  inject("throughClient") === true ? (await import("../client/ClientTransport.ts")).byClient : byFetch
