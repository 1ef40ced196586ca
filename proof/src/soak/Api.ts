/** A client that sends requests to random nodes. Every request must succeed. */
import type { Draws } from "@weft/tooling/draws"
import type { Target } from "../nodes/Client.ts"

/** Fields of the response's `data`. */
export type Fields = Readonly<Record<string, unknown>>

export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** Token to use instead of the key. */
  readonly token?: string
}

export interface Api {
  readonly send: (request: ApiRequest) => Promise<Fields>
  /** Returns the URL of a random node. */
  readonly url: () => string
  readonly key: string
}

const timeoutMs = 20_000

export const makeApi = ({ slots, key }: Target, random: Draws): Api => {
  const url = (): string => random.one(slots).node?.url ?? ""
  const send = async ({ method, path, body, token = key }: ApiRequest): Promise<Fields> => {
    const response = await fetch(url() + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
    const answered: { readonly data?: Fields } = text === "" ? {} : JSON.parse(text)
    return answered.data ?? {}
  }
  return { send, url, key }
}

/** Returns a required string field. */
export const requireText = (fields: Fields, name: string): string => {
  const value = fields[name]
  if (typeof value !== "string")
    throw new Error(`The response has no string field ${name}: ${JSON.stringify(fields).slice(0, 300)}`)
  return value
}
