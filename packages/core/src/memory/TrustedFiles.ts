/** `svc.files` and `svc.asset` of a trusted function. Each call reads or writes whole contents in memory. */

import { base64Decode, base64Encode } from "../foundation/Base64.ts"
import { utf8Decode, utf8Encode } from "../foundation/Utf8.ts"
import { concatBytes } from "../runtime/svc/ReadAhead.ts"

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
  /** Returns null if no such file exists. */
  readonly get: (path: string) => Promise<TrustedContent | null>
  /** Returns the first 100 files, by path. */
  readonly list: (prefix?: string) => Promise<unknown>
  /** Returns true if the file existed. */
  readonly delete: (path: string) => Promise<unknown>
  readonly url: (path: string, options?: { readonly expires_in?: number }) => Promise<unknown>
}

/** Makes a host call and returns its parsed result. */
type CallHost = (op: string, payload: unknown) => Promise<unknown>

interface Fields {
  readonly [name: string]: unknown
}

const chunkBytes = 256 * 1024

let lastId = 0

export const trustedFiles = (callHost: CallHost): TrustedFiles => ({
  put: (path, data, options) => {
    const isText = typeof data === "string"
    const content_type = options?.content_type ?? (isText ? "text/plain; charset=utf-8" : "application/octet-stream")
    return callHost("files.put", { path, content_type, bytes: base64Encode(isText ? utf8Encode(data) : data) })
  },
  get: async (path) => {
    const facts = toFields(await callHost("files.get", { path }))
    return facts === null ? null : toContent(callHost, facts, "files.open", { path, etag: facts.etag })
  },
  list: async (prefix = "") => toFields(await callHost("files.list", { prefix, limit: 100, offset: 0 }))?.items,
  delete: (path) => callHost("files.delete", { path }),
  url: (path, options) => callHost("files.url", { path, ...options })
})

export const trustedAsset = async (callHost: CallHost, name: string): Promise<TrustedContent | null> => {
  const facts = toFields(await callHost("asset.get", { name }))
  return facts === null ? null : toContent(callHost, facts, "asset.open", { name })
}

const toFields = (answer: unknown): Fields | null =>
  typeof answer === "object" && answer !== null ? { ...answer } : null

const toContent = (callHost: CallHost, facts: Fields, open: string, named: object): TrustedContent => {
  const bytes = async (): Promise<Uint8Array> => {
    const request = { id: ++lastId, max: chunkBytes, text: false }
    const chunks: Array<Uint8Array> = []
    let taken = toFields(await callHost(open, { ...named, ...request }))
    while (taken !== null) {
      chunks.push(base64Decode(String(taken.bytes)) ?? new Uint8Array())
      taken = taken.done === true ? null : toFields(await callHost("content.read", request))
    }
    return concatBytes(chunks)
  }
  const text = async () => utf8Decode(await bytes())
  return { ...facts, bytes, text, json: async () => JSON.parse(await text()) }
}
