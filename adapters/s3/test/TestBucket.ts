/** Where tests keep their blobs: each in a bucket of its own. */
import { randomUUID } from "node:crypto"
import type { S3Options } from "@weft/s3"
import type { S3Server } from "@weft/tooling/services"
import { Redacted } from "effect"

export const bucketOf = ({ endPoint, port, useSSL, accessKey, secretKey }: S3Server): S3Options => ({
  endPoint,
  port,
  useSSL,
  accessKey,
  secretKey: Redacted.make(secretKey),
  bucket: `weft-${randomUUID()}`
})
