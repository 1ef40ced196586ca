/** An S3 server for tests: the one that `WEFT_TEST_S3_URL` names, or one of their own. */
import { radosgw } from "./Radosgw.ts"
import { swift } from "./Swift.ts"

export interface S3Server {
  readonly endPoint: string
  readonly port: number
  readonly useSSL: boolean
  readonly accessKey: string
  readonly secretKey: string
  /** Ends it with all that it stores, if it was begun here. */
  readonly remove: () => Promise<void>
}

/**
 * radosgw, or Swift where `WEFT_TEST_S3_SERVER` is `swift`. `WEFT_TEST_S3_URL` is
 * `s3://ACCESS:SECRET@HOST:PORT/?tls=false`; tests make their own buckets there.
 */
export const s3Server = async (): Promise<S3Server> => {
  const { WEFT_TEST_S3_URL: given, WEFT_TEST_S3_SERVER: kind = "radosgw" } = process.env
  if (given !== undefined) return serverAt(given)
  if (kind === "radosgw") return radosgw()
  if (kind === "swift") return swift()
  throw new Error("WEFT_TEST_S3_SERVER must be radosgw or swift")
}

/** `s3://ACCESS:SECRET@HOST:PORT/BUCKET?tls=false`, as `WEFT_STORAGE_URL` has it. */
export const s3Url = ({ endPoint, port, useSSL, accessKey, secretKey }: S3Server, bucket: string): string =>
  `s3://${encodeURIComponent(accessKey)}:${encodeURIComponent(secretKey)}@${endPoint}:${port}/${bucket}?tls=${useSSL}`

const serverAt = (text: string): S3Server => {
  const url = new URL(text)
  const useSSL = url.searchParams.get("tls") !== "false"
  return {
    endPoint: url.hostname,
    port: url.port === "" ? (useSSL ? 443 : 80) : Number(url.port),
    useSSL,
    accessKey: decodeURIComponent(url.username),
    secretKey: decodeURIComponent(url.password),
    remove: async () => undefined
  }
}
