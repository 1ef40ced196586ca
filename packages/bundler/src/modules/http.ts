/** `node:http`: a client over `fetch`. There are no servers: a webhook receives requests. */
import { Writable } from "node:stream"
import { Agent } from "./http/Agent.ts"
import { makeClient } from "./http/Client.ts"
import { ClientRequest } from "./http/ClientRequest.ts"
import { IncomingMessage } from "./http/IncomingMessage.ts"
import { METHODS, STATUS_CODES } from "./http/statusCodes.ts"
import { refuse } from "./refuse.ts"

export { Agent, ClientRequest, IncomingMessage, METHODS, STATUS_CODES }

const server = "export a webhook to receive requests"

export const { get, request } = makeClient("http:")
export const globalAgent = new Agent({ keepAlive: true })
export class OutgoingMessage extends Writable {}
/** Frameworks extend its prototype. */
export class ServerResponse extends OutgoingMessage {}
export const createServer = refuse("http.createServer", server)
export const Server = refuse("http.Server", server)
export const _connectionListener = refuse("http._connectionListener", server)
export const maxHeaderSize = 16_384
export const CloseEvent: unknown = Reflect.get(globalThis, "CloseEvent")
export const MessageEvent: unknown = Reflect.get(globalThis, "MessageEvent")
export const WebSocket: unknown = Reflect.get(globalThis, "WebSocket")
export const setGlobalProxyFromEnv = refuse("http.setGlobalProxyFromEnv")
export const setMaxIdleHTTPParsers = (): void => undefined

export const validateHeaderName = (name: string): void => {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    throw Object.assign(new TypeError(`Header name must be a valid HTTP token ["${name}"]`), {
      code: "ERR_INVALID_HTTP_TOKEN"
    })
  }
}

export const validateHeaderValue = (name: string, value: unknown): void => {
  if (value === undefined || /[^\t\x20-\x7e\x80-\xff]/.test(String(value))) {
    throw Object.assign(new TypeError(`Invalid character in header content ["${name}"]`), { code: "ERR_INVALID_CHAR" })
  }
}

import * as all from "./http.ts"
export default /* @__PURE__ */ Object.assign({}, all)
