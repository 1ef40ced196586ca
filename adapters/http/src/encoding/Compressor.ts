/** Compression of whole bodies, in the thread pool. */
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  gzip,
  zstdCompress as nodeZstd,
  type ZlibOptions,
  type ZstdOptions
} from "node:zlib"
import type { ContentCoding } from "./AcceptEncoding.ts"

/** Levels that cost about as much as sending the body uncompressed, and those of bodies that are compressed once. */
export type Effort = "fast" | "best"

/** Codings of responses, the smallest first. */
export const codings: ReadonlyArray<ContentCoding> = ["br", "zstd", "gzip"]

const brotli: Record<Effort, BrotliOptions> = {
  fast: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
  best: { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
}
const zstd: Record<Effort, ZstdOptions> = {
  fast: { params: { [constants.ZSTD_c_compressionLevel]: 3 } },
  best: { params: { [constants.ZSTD_c_compressionLevel]: 15 } }
}
const deflate: Record<Effort, ZlibOptions> = { fast: { level: 4 }, best: { level: 9 } }

export const compress = (bytes: Uint8Array, coding: ContentCoding, effort: Effort): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, compressed: Uint8Array): void =>
      error === null ? resolve(compressed) : reject(error)
    if (coding === "br") brotliCompress(bytes, brotli[effort], done)
    else if (coding === "zstd") nodeZstd(bytes, zstd[effort], done)
    else gzip(bytes, deflate[effort], done)
  })
