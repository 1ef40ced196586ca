/** Where tests keep their blobs: each in a bucket of its own, into which they can look. */
import { randomUUID } from "node:crypto"
import { text } from "node:stream/consumers"
import { BlobStore, markDisposable } from "@weft/core"
import { blobs, type S3Options } from "@weft/s3"
import type { S3Server } from "@weft/tooling/services"
import { Effect, Redacted, Stream } from "effect"
import { Client } from "minio"

type Address = Pick<S3Server, "endPoint" | "port">

/** A bucket that is made by the first who uses it; by way of another address, if one is given. */
export const bucketOf = (server: S3Server, by: Address = server): S3Options => ({
  endPoint: by.endPoint,
  port: by.port,
  useSSL: server.useSSL,
  accessKey: server.accessKey,
  secretKey: Redacted.make(server.secretKey),
  bucket: `weft-${randomUUID()}`
})

/** Runs with the store in this bucket. */
export const inBucket = <A, E>(
  options: S3Options,
  use: (store: BlobStore["Service"]) => Effect.Effect<A, E>
): Effect.Effect<A, unknown> => Effect.provide(BlobStore.use(use), blobs(options))

export const clientOf = ({ secretKey, endPoint, port, useSSL, accessKey }: S3Options): Client =>
  new Client({
    endPoint,
    ...(port === undefined ? {} : { port }),
    useSSL: useSSL ?? true,
    accessKey,
    secretKey: Redacted.value(secretKey),
    region: "us-east-1"
  })

/** The keys of all objects. */
export const objectsIn = (options: S3Options): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const keys: Array<string> = []
    for await (const { name } of clientOf(options).listObjectsV2(options.bucket, "", true)) keys.push(String(name))
    return keys.sort()
  })

/** The keys of all uploads that were neither completed nor aborted. */
export const uploadsIn = (options: S3Options): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    // The client reads the list of Swift as one without keys.
    const request = { method: "GET", bucketName: options.bucket, query: "uploads" }
    const list = await text(await clientOf(options).makeRequestAsync(request, ""))
    return [...list.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key = ""]) => decodeURIComponent(key)).sort()
  })

export const MiB = 1024 ** 2

/** A mebibyte that its number tells. */
const mebibyte = (number: number): Uint8Array => new Uint8Array(MiB).fill(number % 251)

/** So many mebibytes, each made when it is asked for. */
export const mebibytes = (count: number, first = 0): Stream.Stream<Uint8Array> =>
  Stream.map(Stream.rechunk(Stream.range(first, first + count - 1), 1), (number) => markDisposable(mebibyte(number)))

/** Dies where it is not what `mebibytes` made; gives how many bytes there were. */
export const checkMebibytes = <E>(bytes: Stream.Stream<Uint8Array, E>, first = 0): Effect.Effect<number, E> =>
  Stream.runFold(
    bytes,
    () => 0,
    (before, piece) => {
      for (let at = 0; at < piece.length; ) {
        const number = Math.floor((before + at) / MiB)
        const length = Math.min(piece.length - at, (number + 1) * MiB - before - at)
        const wanted = mebibyteOf(first + number).subarray(0, length)
        if (wanted.compare(piece, at, at + length) !== 0) throw new Error(`Mebibyte ${number} is another`)
        at += length
      }
      return before + piece.length
    }
  )

const made = new Map<number, Buffer>()

const mebibyteOf = (number: number): Buffer => {
  const found = made.get(number) ?? Buffer.from(mebibyte(number))
  made.set(number, found)
  return found
}
