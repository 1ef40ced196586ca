/** `node:stream/consumers`. */
import { Buffer } from "node:buffer"

const collect = async (source: AsyncIterable<unknown>): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of source) {
    chunks.push(chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk)))
  }
  return Buffer.concat(chunks)
}

export const buffer = collect
export const bytes = async (source: AsyncIterable<unknown>) => new Uint8Array(await collect(source))
export const arrayBuffer = async (source: AsyncIterable<unknown>) => (await bytes(source)).buffer
export const blob = async (source: AsyncIterable<unknown>) => new Blob([await bytes(source)])
export const text = async (source: AsyncIterable<unknown>) => (await collect(source)).toString()
export const json = async (source: AsyncIterable<unknown>): Promise<unknown> => JSON.parse(await text(source))
export default { arrayBuffer, blob, buffer, bytes, json, text }
