/** `URL.createObjectURL` and `URL.revokeObjectURL`. A URL is valid in the run that created it. */
import type { Blob as PlatformBlob } from "../platform/blob.ts"

const { requireArguments } = platform.define()
const { Blob } = platform.blob()
const { Response } = platform.response()
const { crypto } = platform.crypto()

type Blobs = Map<string, PlatformBlob>

/** Maximum URLs of a run; beyond it, the oldest is revoked. */
const urlsMax = 1000

const blobsOfRuns = new WeakMap<object, Blobs>()

const currentBlobs = (): Blobs => {
  const run = platform.host().host().scope()
  const known = blobsOfRuns.get(run)
  if (known !== undefined) {
    return known
  }
  const blobs: Blobs = new Map()
  blobsOfRuns.set(run, blobs)
  return blobs
}

platform.fetch().setBlobFetcher((url, method) => {
  const blob = method === "GET" ? currentBlobs().get(url.replace(/#.*$/s, "")) : undefined
  if (blob === undefined) {
    return null
  }
  const headers = { "content-length": `${blob.size}`, ...(blob.type === "" ? {} : { "content-type": blob.type }) }
  return new Response(blob, { headers })
})

export function createObjectURL(blob: PlatformBlob): string {
  requireArguments(arguments, 1, "URL.createObjectURL")
  if (!(blob instanceof Blob)) {
    throw new TypeError("URL.createObjectURL: the argument must be a Blob.")
  }
  const blobs = currentBlobs()
  const oldest = blobs.keys().next()
  if (blobs.size >= urlsMax && oldest.done !== true) {
    blobs.delete(oldest.value)
  }
  const url = `blob:null/${crypto.randomUUID()}`
  blobs.set(url, blob)
  return url
}

export function revokeObjectURL(url: string): void {
  requireArguments(arguments, 1, "URL.revokeObjectURL")
  currentBlobs().delete(`${url}`.replace(/#.*$/s, ""))
}
