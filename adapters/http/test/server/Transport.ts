/** How requests of the tests reach their server: by `fetch`, or through `@weft/client` where it can send them. */
import { inject } from "vitest"
import type { CallOptions } from "./TestServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Whether requests that the client has a method for go through it. */
    readonly throughClient?: boolean
  }
}

export interface Asked extends CallOptions {
  /** Of the server, without a path. */
  readonly url: string
  readonly method: string
  /** As it is to be sent, with its query. */
  readonly path: string
  readonly token: string | null
}

export type Transport = (asked: Asked) => Promise<Response>

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
