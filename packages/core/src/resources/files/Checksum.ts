/**
 * Checksums of stored bytes, as text.
 *
 *     <key> sha256:<digest>                         the whole content
 *     <key> sha256-parts:<size>x<count>,…:<digest>  parts of these sizes: the SHA-256 of their digests as text
 *
 * A blob store joins parts without reading them again, so a checksum of a joined blob has the boundaries of its parts. A
 * checksum names its blob, because a node of an older release replaces a file without replacing the checksum.
 */
import { Effect } from "effect"
import { utf8Encode } from "../../foundation/Utf8.ts"
import type { BlobHash, WrittenBlob } from "../../platform/blobs/BlobStore.ts"

/** Sizes of consecutive parts. */
export interface PartSizes {
  /** In bytes. */
  readonly size: number
  readonly count: number
}

/** The content that a checksum describes. */
export interface ExpectedContent {
  readonly digest: string
  /** Null if the digest is that of the whole content. */
  readonly parts: ReadonlyArray<PartSizes> | null
}

/** Returns the checksum of a blob that was written as a whole. */
export const formatWhole = (key: string, { digest }: WrittenBlob): string => `${key} sha256:${readSha256(digest)}`

/** Returns the checksum of a blob that was joined from these parts. */
export const formatParts = (
  key: string,
  parts: ReadonlyArray<WrittenBlob>,
  newHash: () => BlobHash
): Effect.Effect<string> => {
  const hash = newHash()
  const sizes: Array<{ size: number; count: number }> = []
  for (const { size, digest } of parts) {
    hash.update(utf8Encode(readSha256(digest)))
    const last = sizes.at(-1)
    if (last?.size === size) last.count++
    else sizes.push({ size, count: 1 })
  }
  const text = sizes.map(({ size, count }) => `${size}x${count}`).join(",")
  return Effect.map(hash.digest, (digest) => `${key} sha256-parts:${text}:${digest}`)
}

/** Returns the SHA-256 at the beginning of a digest; see `WrittenBlob`. */
const readSha256 = (digest: string): string => digest.slice(0, 64)

/** A stored file, as far as its checksum needs it. */
interface StoredContent {
  readonly storage_path: string
  readonly etag: string
  readonly checksum: string | null
}

/** Returns the expected content of a file; null for a joined file that a release without checksums stored. */
export const parseChecksum = ({ storage_path, etag, checksum }: StoredContent): ExpectedContent | null => {
  const text = checksum?.startsWith(`${storage_path} `) === true ? checksum.slice(storage_path.length + 1) : ""
  const whole = /^sha256:([0-9a-f]{64})$/.exec(text)?.[1] ?? /^"([0-9a-f]{64})"$/.exec(text === "" ? etag : "")?.[1]
  if (whole !== undefined) return { digest: whole, parts: null }
  const [, sizes = "", digest = ""] = /^sha256-parts:([0-9x,]+):([0-9a-f]{64})$/.exec(text) ?? []
  if (digest === "") return null
  const parts = sizes.split(",").map((each) => {
    const [size, count] = each.split("x")
    return { size: Number(size), count: Number(count) }
  })
  return { digest, parts }
}
