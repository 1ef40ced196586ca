/** `request` and `get` of `node:http` and `node:https`. */
import { ClientRequest } from "./ClientRequest.ts"
import type { IncomingMessage } from "./IncomingMessage.ts"
import { fromUrl, type RequestOptions } from "./Target.ts"

type Listener = (response: IncomingMessage) => void
type Given = ReadonlyArray<string | URL | RequestOptions | Listener | undefined>

export const makeClient = (protocol: string) => {
  const request = (...given: Given): ClientRequest => {
    const listener = given.find((each) => typeof each === "function")
    const url = given.find((each) => typeof each === "string" || each instanceof URL)
    const options = given.find(isOptions)
    const base = url === undefined ? {} : fromUrl(new URL(url))
    return new ClientRequest({ ...base, ...options }, protocol, listener)
  }
  const get = (...given: Given): ClientRequest => {
    const sent = request(...given)
    sent.end()
    return sent
  }
  return { request, get }
}

const isOptions = (given: Given[number]): given is RequestOptions =>
  typeof given === "object" && given !== null && !(given instanceof URL)
