/** Operations on one bucket, limited to those that all S3 implementations support. */
import { createHash, webcrypto } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Effect, Schedule } from "effect"
import type { Client } from "minio"
import { isPassing, orNull, type S3Failure, strange } from "./S3Failure.ts"
import { defaultRegion, defaultTimeouts, type S3Options, type Timeouts } from "./S3Options.ts"
import type { S3Transport } from "./S3Transport.ts"

export interface Found {
  readonly size: number
  readonly etag: string
  /** The `mark` that it was stored with; null if none. */
  readonly mark: string | null
}

export interface Upload {
  readonly key: string
  readonly id: string
  /** Stored with the object, to distinguish it from others under the key. */
  readonly mark: string
}

export interface UploadedBlock {
  readonly part: number
  readonly etag: string
}

export interface Bucket {
  readonly timeouts: Timeouts
  readonly exists: Effect.Effect<boolean, S3Failure>
  /** Creates the bucket. Succeeds if it exists. */
  readonly make: Effect.Effect<void, S3Failure>
  /** Returns the ETag of the stored object. */
  readonly put: (key: string, bytes: Uint8Array, mark?: string) => Effect.Effect<string, S3Failure>
  /** Returns the response with an unread body. With an ETag: only of the object with this ETag. */
  readonly get: (
    key: string,
    from: number,
    to: number | null,
    etag?: string
  ) => Effect.Effect<IncomingMessage, S3Failure>
  readonly stat: (key: string) => Effect.Effect<Found | null, S3Failure>
  readonly remove: (key: string) => Effect.Effect<void, S3Failure>
  /** True if no key has this prefix. */
  readonly isEmpty: (prefix: string) => Effect.Effect<boolean, S3Failure>
  /** Lists all keys with this prefix. */
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<string>, S3Failure>
  readonly initiate: (key: string, mark: string) => Effect.Effect<Upload, S3Failure>
  readonly isOpen: (upload: Upload) => Effect.Effect<boolean, S3Failure>
  readonly putBlock: (upload: Upload, part: number, bytes: Uint8Array) => Effect.Effect<UploadedBlock, S3Failure>
  /** Makes S3 copy an object as a block. */
  readonly copyBlock: (upload: Upload, part: number, from: string) => Effect.Effect<UploadedBlock, S3Failure>
  /** Returns false if there is no such upload, and the object under its key is not its result. */
  readonly complete: (upload: Upload, blocks: ReadonlyArray<UploadedBlock>) => Effect.Effect<boolean, S3Failure>
  /** Succeeds also if there is no such upload. */
  readonly abort: (upload: Pick<Upload, "key" | "id">) => Effect.Effect<void, S3Failure>
}

/** Retries transient failures three times, after 100, 200 and 400 ms. All of our requests are safe to repeat. */
const retryPolicy = { while: isPassing, times: 3, schedule: Schedule.jittered(Schedule.exponential("100 millis")) }

const markHeader = "x-amz-meta-weft-mark"

export const makeBucket = ({ request }: S3Transport, options: S3Options): Bucket => {
  const { bucket: bucketName } = options
  const signsPayload = !(options.tls ?? true)
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const requestWithin =
    (ms: number) =>
    <A>(run: (client: Client) => Promise<A>) =>
      Effect.retry(request(ms, run), retryPolicy)
  const shortRequest = requestWithin(timeouts.responseMs)
  const transferRequest = requestWithin(timeouts.transferMs)

  const send = async (
    client: Client,
    objectName: string,
    bytes: Uint8Array,
    headers: Readonly<Record<string, string>>,
    query: string
  ) => {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const request = {
      method: "PUT",
      bucketName,
      objectName,
      query,
      headers: { ...headers, "content-length": body.length }
    }
    const response = await client.makeRequestStreamAsync(
      request,
      body,
      signsPayload ? await sha256(body) : "",
      [200],
      ""
    )
    await drained(response)
    return etagOf(response)
  }

  return {
    timeouts,

    exists: shortRequest((client) => client.listObjectsV2Query(bucketName, "", "", "", 1, "")).pipe(
      Effect.as(true),
      Effect.catchTag("S3Failure", (failure) => (failure.status === 404 ? Effect.succeed(false) : Effect.fail(failure)))
    ),

    make: shortRequest((client) => client.makeBucket(bucketName, options.region ?? defaultRegion)).pipe(
      Effect.catchTag("S3Failure", (failure) => (isMade(failure) ? Effect.void : Effect.fail(failure)))
    ),

    put: (key, bytes, mark) =>
      transferRequest((client) => send(client, key, bytes, mark === undefined ? {} : { [markHeader]: mark }, "")),

    get: (objectName, from, to, etag) => {
      const isWhole = from === 0 && to === null
      const headers = {
        ...(isWhole ? {} : { range: `bytes=${from}-${to === null ? "" : to - 1}` }),
        ...(etag === undefined ? {} : { "if-match": `"${etag}"` })
      }
      // A server that ignores the range would send other bytes.
      return shortRequest((client) =>
        client.makeRequestAsync({ method: "GET", bucketName, objectName, headers }, "", [isWhole ? 200 : 206])
      )
    },

    stat: (key) => orNull(shortRequest((client) => statOf(client, bucketName, key))),

    remove: (key) => shortRequest((client) => client.removeObject(bucketName, key)),

    isEmpty: (prefix) =>
      Effect.map(
        shortRequest((client) => client.listObjectsV2Query(bucketName, prefix, "", "", 1, "")),
        ({ objects }) => objects.length === 0
      ),

    list: (prefix) => shortRequest((client) => keysOf(client, bucketName, prefix)),

    initiate: (key, mark) =>
      shortRequest(async (client) => {
        const id: unknown = await client.initiateNewMultipartUpload(bucketName, key, { [markHeader]: mark })
        // The client converts an id that looks like a number into one; the next id is different.
        if (typeof id !== "string") throw strange("UploadId")
        return { key, id, mark }
      }),

    isOpen: ({ key, id }) =>
      Effect.map(
        orNull(
          shortRequest(async (client) => {
            const query = `max-parts=1&uploadId=${encodeURIComponent(id)}`
            await client.makeRequestAsyncOmit({ method: "GET", bucketName, objectName: key, query })
            return true
          })
        ),
        (found) => found ?? false
      ),

    putBlock: ({ key, id }, part, bytes) =>
      transferRequest(async (client) => {
        const query = `partNumber=${part}&uploadId=${encodeURIComponent(id)}`
        return { part, etag: await send(client, key, bytes, {}, query) }
      }),

    copyBlock: ({ key, id }, part, from) =>
      transferRequest(async (client) => {
        const headers = { "x-amz-copy-source": `/${bucketName}/${from}` }
        const uploadID = encodeURIComponent(id)
        const { etag } = await client.uploadPart(
          { bucketName, objectName: key, uploadID, partNumber: part, headers },
          ""
        )
        return { part, etag }
      }),

    complete: ({ key, id, mark }, blocks) =>
      Effect.flatMap(
        orNull(transferRequest((client) => client.completeMultipartUpload(bucketName, key, id, [...blocks]))),
        // An earlier request whose response was lost may have completed it.
        (done) =>
          done !== null
            ? Effect.succeed(true)
            : Effect.map(
                orNull(shortRequest((client) => statOf(client, bucketName, key))),
                (found) => found?.mark === mark
              )
      ),

    abort: ({ key, id }) =>
      Effect.asVoid(
        orNull(shortRequest((client) => client.abortMultipartUpload(bucketName, key, encodeURIComponent(id))))
      )
  }
}

/** True if another node created it at the same time. */
const isMade = ({ code }: S3Failure): boolean => code === "BucketAlreadyOwnedByYou" || code === "BucketAlreadyExists"

/** Returns the digest in hexadecimal; computed off this thread if it takes long. */
const sha256 = async (bytes: Buffer): Promise<string> =>
  bytes.length < asyncBytesMin
    ? createHash("sha256").update(bytes).digest("hex")
    : Buffer.from(await webcrypto.subtle.digest("SHA-256", bytes)).toString("hex")

const asyncBytesMin = 256 * 1024

const statOf = async (client: Client, bucketName: string, key: string): Promise<Found> => {
  const { size, etag, metaData } = await client.statObject(bucketName, key)
  const mark: unknown = metaData["weft-mark"]
  return { size, etag, mark: typeof mark === "string" ? mark : null }
}

const keysOf = async (client: Client, bucketName: string, prefix: string): Promise<ReadonlyArray<string>> => {
  const keys: Array<string> = []
  for (let token = ""; ; ) {
    const page = await client.listObjectsV2Query(bucketName, prefix, token, "", 1000, "")
    for (const { name } of page.objects) if (name !== undefined) keys.push(name)
    if (!page.isTruncated) return keys
    token = page.nextContinuationToken
  }
}

export const etagOf = ({ headers }: Pick<IncomingMessage, "headers">): string =>
  (headers.etag ?? "").replaceAll('"', "")

const drained = (response: IncomingMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    response.once("end", resolve).once("error", reject).resume()
  })
