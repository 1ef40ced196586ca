/** Buckets for tests, one per test, that tests can inspect. */
import { randomUUID } from "node:crypto"
import { text } from "node:stream/consumers"
import { BlobStore, markDisposable } from "@weft/core/adapter"
import { blobs, type S3Options } from "@weft/s3"
import type { S3Server } from "@weft/tooling/services"
import { Effect, Redacted, Stream } from "effect"
import { Client } from "minio"

type Address = Pick<S3Server, "endPoint" | "port">

/** Options of a new bucket, which the first user creates. The address may be that of a proxy. */
export const newBucket = (server: S3Server, by: Address = server): S3Options => ({
  endpoint: by.endPoint,
  port: by.port,
  tls: server.useSSL,
  credentials: { accessKeyId: server.accessKey, secretAccessKey: Redacted.make(server.secretKey) },
  bucket: `weft-${randomUUID()}`
})

/** Runs with the store in this bucket. */
export const inBucket = <A, E>(
  options: S3Options,
  use: (store: BlobStore["Service"]) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> => Effect.provide(BlobStore.use(use), blobs(options))

export const makeClient = ({ endpoint, port, tls = true, credentials }: S3Options): Client =>
  new Client({
    endPoint: endpoint,
    ...(port === undefined ? {} : { port }),
    useSSL: tls,
    accessKey: credentials.accessKeyId,
    secretKey: readSecret(credentials),
    region: "us-east-1"
  })

/** Returns the secret as text. */
export const readSecret = ({ secretAccessKey }: S3Options["credentials"]): string =>
  typeof secretAccessKey === "string" ? secretAccessKey : Redacted.value(secretAccessKey)

/** Returns the keys of all objects. */
export const objectsIn = (options: S3Options): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const keys: Array<string> = []
    for await (const { name } of makeClient(options).listObjectsV2(options.bucket, "", true)) keys.push(String(name))
    return keys.sort()
  })

/** Returns the keys of all uploads that were neither completed nor aborted. */
export const uploadsIn = (options: S3Options): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    // The client cannot read Swift's list: it finds no keys in it.
    const request = { method: "GET", bucketName: options.bucket, query: "uploads" }
    const list = await text(await makeClient(options).makeRequestAsync(request, ""))
    return [...list.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => decodeURIComponent(key)).sort()
  })

export const MiB = 1024 ** 2

/** A mebibyte with content derived from its number. */
const mebibyte = (number: number): Uint8Array => new Uint8Array(MiB).fill(number % 251)

/** Streams this many mebibytes, each created on demand. */
export const mebibytes = (count: number, first = 0): Stream.Stream<Uint8Array> =>
  Stream.map(Stream.rechunk(Stream.range(first, first + count - 1), 1), (number) => markDisposable(mebibyte(number)))

/** Returns the number of bytes. Dies if they are not those of `mebibytes`. */
export const checkMebibytes = <E>(bytes: Stream.Stream<Uint8Array, E>, first = 0): Effect.Effect<number, E> =>
  Stream.runFold(
    bytes,
    () => 0,
    (before, piece) => {
      for (let at = 0; at < piece.length; ) {
        const number = Math.floor((before + at) / MiB)
        const length = Math.min(piece.length - at, (number + 1) * MiB - before - at)
        const wanted = cachedMebibyte(first + number).subarray(0, length)
        if (wanted.compare(piece, at, at + length) !== 0) throw new Error(`Mebibyte ${number} has other content`)
        at += length
      }
      return before + piece.length
    }
  )

const cache = new Map<number, Buffer>()

const cachedMebibyte = (number: number): Buffer => {
  const found = cache.get(number) ?? Buffer.from(mebibyte(number))
  cache.set(number, found)
  return found
}
