/** URLs by which clients get objects from S3 itself. */
import type { ServedAs } from "@weft/core"
import { Clock, Effect } from "effect"
import { Client } from "minio"
import { clientOptions } from "./Exchange.ts"
import { isExpiry, publicUrlOf, type S3Options } from "./S3Options.ts"

/** Null when clients are not to go there. */
export type Address = (object: string, as: ServedAs) => Effect.Effect<string | null>

export const makeAddress = (options: S3Options): Address => {
  const { presign, bucket } = options
  if (presign === undefined) return () => Effect.succeed(null)
  const { expirySeconds, publicEndPoint } = presign
  if (!isExpiry(expirySeconds)) throw new Error("expirySeconds must be a whole number from 1 to 604800")
  const client = new Client(clientOptions({ ...options, ...reachedAt(publicEndPoint) }))
  return (object, { contentType, contentDisposition }) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      // Signing asks nobody.
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

const reachedAt = (address: string | undefined): Pick<S3Options, "endPoint" | "port" | "useSSL"> | undefined => {
  if (address === undefined) return undefined
  const url = publicUrlOf(address)
  if (url === null) throw new Error("publicEndPoint must be https://HOST or http://HOST:PORT")
  const useSSL = url.protocol === "https:"
  return { endPoint: url.hostname, useSSL, port: url.port === "" ? (useSSL ? 443 : 80) : Number(url.port) }
}
