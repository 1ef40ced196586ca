/** `svc.files` and `svc.asset` of a trusted function: whole contents in one call each, which memory has no need to bound. */

import { joined } from "../hostcalls/Inflow.ts"
import { base64Decode, base64Encode } from "../ids/Base64.ts"
import { utf8Decode, utf8Encode } from "../ids/Utf8.ts"

export interface TrustedContent extends Readonly<Record<string, unknown>> {
  readonly bytes: () => Promise<Uint8Array>
  readonly text: () => Promise<string>
  readonly json: () => Promise<unknown>
}

export interface TrustedFiles {
  readonly put: (
    path: string,
    data: string | Uint8Array,
    options?: { readonly content_type?: string }
  ) => Promise<unknown>
  /** Null when there is none. */
  readonly get: (path: string) => Promise<TrustedContent | null>
  /** The first hundred, by path. */
  readonly list: (prefix?: string) => Promise<unknown>
  /** Whether there was one. */
  readonly delete: (path: string) => Promise<unknown>
  readonly url: (path: string, options?: { readonly expires_in?: number }) => Promise<unknown>
}

/** Makes a host call; the answer is what its JSON text says. */
type Ask = (op: string, payload: unknown) => Promise<unknown>

interface Answer {
  readonly [name: string]: unknown
}

const pieceBytes = 256 * 1024

let lastId = 0

export const trustedFiles = (ask: Ask): TrustedFiles => ({
  put: (path, data, options) => {
    const isText = typeof data === "string"
    const content_type = options?.content_type ?? (isText ? "text/plain; charset=utf-8" : "application/octet-stream")
    return ask("files.put", { path, content_type, bytes: base64Encode(isText ? utf8Encode(data) : data) })
  },
  get: async (path) => {
    const facts = fieldsOf(await ask("files.get", { path }))
    return facts === null ? null : contentOf(ask, facts, "files.open", { path, etag: facts.etag })
  },
  list: async (prefix = "") => fieldsOf(await ask("files.list", { prefix, limit: 100, offset: 0 }))?.items,
  delete: (path) => ask("files.delete", { path }),
  url: (path, options) => ask("files.url", { path, ...options })
})

export const trustedAsset = async (ask: Ask, name: string): Promise<TrustedContent | null> => {
  const facts = fieldsOf(await ask("asset.get", { name }))
  return facts === null ? null : contentOf(ask, facts, "asset.open", { name })
}

const fieldsOf = (answer: unknown): Answer | null =>
  typeof answer === "object" && answer !== null ? { ...answer } : null

const contentOf = (ask: Ask, facts: Answer, open: string, named: object): TrustedContent => {
  const bytes = async (): Promise<Uint8Array> => {
    const piece = { id: ++lastId, max: pieceBytes, text: false }
    const pieces: Array<Uint8Array> = []
    let taken = fieldsOf(await ask(open, { ...named, ...piece }))
    while (taken !== null) {
      pieces.push(base64Decode(String(taken.bytes)) ?? new Uint8Array())
      taken = taken.done === true ? null : fieldsOf(await ask("content.read", piece))
    }
    return joined(pieces)
  }
  const text = async () => utf8Decode(await bytes())
  return { ...facts, bytes, text, json: async () => JSON.parse(await text()) }
}
