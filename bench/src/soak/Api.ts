/** Requests of one client to whichever node, each of which has to succeed. */

import type { Draws } from "@weft/tooling/draws"
import type { Reach } from "../nodes/Client.ts"

/** Fields of the answer's `data`. */
export type Fields = Readonly<Record<string, unknown>>

export interface Asked {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** In place of the key. */
  readonly token?: string
}

export interface Api {
  readonly ask: (asked: Asked) => Promise<Fields>
  /** Address of any node. */
  readonly url: () => string
  readonly key: string
}

const patienceMs = 20_000

export const apiOf = ({ slots, key }: Reach, random: Draws): Api => {
  const url = (): string => random.one(slots).node?.url ?? ""
  const ask = async ({ method, path, body, token = key }: Asked): Promise<Fields> => {
    const response = await fetch(url() + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(patienceMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`)
    const answered: { readonly data?: Fields } = text === "" ? {} : JSON.parse(text)
    return answered.data ?? {}
  }
  return { ask, url, key }
}

/** A field that has to be there. */
export const textOf = (fields: Fields, name: string): string => {
  const value = fields[name]
  if (typeof value !== "string") throw new Error(`The answer has no ${name}: ${JSON.stringify(fields).slice(0, 300)}`)
  return value
}
