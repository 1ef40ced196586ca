/** One bucket: what is asked of S3, and no more than all kinds of it can do. */
import { createHash, webcrypto } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Effect, Schedule } from "effect"
import type { Client } from "minio"
import type { Exchange } from "./Exchange.ts"
import { isPassing, orNull, type S3Failure, strange } from "./S3Failure.ts"
import { defaultRegion, type Patience, type S3Options, patience as usual } from "./S3Options.ts"

export interface Found {
  readonly size: number
  readonly etag: string
  /** What `mark` was when it was stored; null for none. */
  readonly mark: string | null
}

export interface Upload {
  readonly key: string
  readonly id: string
  /** Borne by the object that it becomes: tells it from others under the key. */
  readonly mark: string
}

export interface UploadedBlock {
  readonly part: number
  readonly etag: string
}

export interface Bucket {
  readonly patience: Patience
  readonly exists: Effect.Effect<boolean, S3Failure>
  /** A bucket that is there already is as good. */
  readonly make: Effect.Effect<void, S3Failure>
  /** The ETag of what was stored. */
  readonly put: (key: string, bytes: Uint8Array, mark?: string) => Effect.Effect<string, S3Failure>
  /** The answer, of which nothing is read yet. Only of the object with this ETag, where one is named. */
  readonly get: (
    key: string,
    from: number,
    to: number | null,
    etag?: string
  ) => Effect.Effect<IncomingMessage, S3Failure>
  readonly stat: (key: string) => Effect.Effect<Found | null, S3Failure>
  readonly remove: (key: string) => Effect.Effect<void, S3Failure>
  /** All keys that begin with this. */
  readonly list: (prefix: string) => Effect.Effect<ReadonlyArray<string>, S3Failure>
  readonly initiate: (key: string, mark: string) => Effect.Effect<Upload, S3Failure>
  readonly isOpen: (upload: Upload) => Effect.Effect<boolean, S3Failure>
  readonly putBlock: (upload: Upload, part: number, bytes: Uint8Array) => Effect.Effect<UploadedBlock, S3Failure>
  /** S3 copies an object to be a block. */
  readonly copyBlock: (upload: Upload, part: number, from: string) => Effect.Effect<UploadedBlock, S3Failure>
  /** False when there is no such upload, and what is under its key is not what it became. */
  readonly complete: (upload: Upload, blocks: ReadonlyArray<UploadedBlock>) => Effect.Effect<boolean, S3Failure>
  /** Aborting what is not there succeeds. */
  readonly abort: (upload: Pick<Upload, "key" | "id">) => Effect.Effect<void, S3Failure>
}

/** What may pass is asked for again, three times: after 100, 200 and 400 ms. All that we ask for may be repeated. */
const again = { while: isPassing, times: 3, schedule: Schedule.jittered(Schedule.exponential("100 millis")) }

const markHeader = "x-amz-meta-weft-mark"

export const makeBucket = ({ ask }: Exchange, options: S3Options): Bucket => {
  const { bucket: bucketName } = options
  const signsPayload = !(options.useSSL ?? true)
  const patience = { ...usual, ...options.patience }
  const asking =
    (ms: number) =>
    <A>(run: (client: Client) => Promise<A>) =>
      Effect.retry(ask(ms, run), again)
  const answered = asking(patience.answerMs)
  const transferred = asking(patience.transferMs)

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
    patience,

    exists: answered((client) => client.listObjectsV2Query(bucketName, "", "", "", 1, "")).pipe(
      Effect.as(true),
      Effect.catchTag("S3Failure", (failure) => (failure.status === 404 ? Effect.succeed(false) : Effect.fail(failure)))
    ),

    make: answered((client) => client.makeBucket(bucketName, options.region ?? defaultRegion)).pipe(
      Effect.catchTag("S3Failure", (failure) => (isMade(failure) ? Effect.void : Effect.fail(failure)))
    ),

    put: (key, bytes, mark) =>
      transferred((client) => send(client, key, bytes, mark === undefined ? {} : { [markHeader]: mark }, "")),

    get: (objectName, from, to, etag) => {
      const isWhole = from === 0 && to === null
      const headers = {
        ...(isWhole ? {} : { range: `bytes=${from}-${to === null ? "" : to - 1}` }),
        ...(etag === undefined ? {} : { "if-match": `"${etag}"` })
      }
      // Who ignores the range would send other bytes.
      return answered((client) =>
        client.makeRequestAsync({ method: "GET", bucketName, objectName, headers }, "", [isWhole ? 200 : 206])
      )
    },

    stat: (key) => orNull(answered((client) => statOf(client, bucketName, key))),

    remove: (key) => answered((client) => client.removeObject(bucketName, key)),

    list: (prefix) => answered((client) => keysOf(client, bucketName, prefix)),

    initiate: (key, mark) =>
      answered(async (client) => {
        const id: unknown = await client.initiateNewMultipartUpload(bucketName, key, { [markHeader]: mark })
        // The client makes a number of an id that looks like one; the next id is another.
        if (typeof id !== "string") throw strange("UploadId")
        return { key, id, mark }
      }),

    isOpen: ({ key, id }) =>
      Effect.map(
        orNull(
          answered(async (client) => {
            const query = `max-parts=1&uploadId=${encodeURIComponent(id)}`
            await client.makeRequestAsyncOmit({ method: "GET", bucketName, objectName: key, query })
            return true
          })
        ),
        (found) => found ?? false
      ),

    putBlock: ({ key, id }, part, bytes) =>
      transferred(async (client) => {
        const query = `partNumber=${part}&uploadId=${encodeURIComponent(id)}`
        return { part, etag: await send(client, key, bytes, {}, query) }
      }),

    copyBlock: ({ key, id }, part, from) =>
      transferred(async (client) => {
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
        orNull(transferred((client) => client.completeMultipartUpload(bucketName, key, id, [...blocks]))),
        // It may have been completed all the same, by a request whose answer was lost.
        (done) =>
          done !== null
            ? Effect.succeed(true)
            : Effect.map(orNull(answered((client) => statOf(client, bucketName, key))), (found) => found?.mark === mark)
      ),

    abort: ({ key, id }) =>
      Effect.asVoid(orNull(answered((client) => client.abortMultipartUpload(bucketName, key, encodeURIComponent(id)))))
  }
}

/** By another node that starts at the same time. */
const isMade = ({ code }: S3Failure): boolean => code === "BucketAlreadyOwnedByYou" || code === "BucketAlreadyExists"

/** In hexadecimal; off this thread, where it takes longer than a moment. */
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
