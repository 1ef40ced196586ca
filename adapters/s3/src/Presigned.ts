/** Presigned URLs: clients download objects from S3 directly. */
import type { ServedAs } from "@weft/core/adapter"
import { Clock, Effect } from "effect"
import { Client } from "minio"
import { isExpiry, publicUrlOf, type S3Options } from "./S3Options.ts"
import { clientOptions } from "./S3Transport.ts"

/** Returns the URL of an object, or null if downloads go through this process. */
export type Address = (object: string, as: ServedAs) => Effect.Effect<string | null>

export const makeAddress = (options: S3Options): Address => {
  const { presign, bucket } = options
  if (presign === undefined) return () => Effect.succeed(null)
  const { expirySeconds, publicEndpoint } = presign
  if (!isExpiry(expirySeconds)) throw new Error("expirySeconds must be a whole number from 1 to 604800")
  const client = new Client(clientOptions({ ...options, ...reachedAt(publicEndpoint) }))
  return (object, { contentType, contentDisposition }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      // Signing sends no request.
      Effect.promise(() =>
        client.presignedGetObject(
          bucket,
          object,
          expirySeconds,
          { "response-content-type": contentType, "response-content-disposition": contentDisposition },
          new Date(now)
        )
      )
    )
}

const reachedAt = (address: string | undefined): Pick<S3Options, "endpoint" | "port" | "tls"> | undefined => {
  if (address === undefined) return undefined
  const url = publicUrlOf(address)
  if (url === null) throw new Error("publicEndpoint must be https://HOST or http://HOST:PORT")
  const tls = url.protocol === "https:"
  return { endpoint: url.hostname, tls, port: url.port === "" ? (tls ? 443 : 80) : Number(url.port) }
}
