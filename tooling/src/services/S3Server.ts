/** The S3 server for tests: the server at `WEFT_TEST_S3_URL`, or a private one. */
import { radosgw } from "./Radosgw.ts"
import { swift } from "./Swift.ts"

export interface S3Server {
  readonly endPoint: string
  readonly port: number
  readonly useSSL: boolean
  readonly accessKey: string
  readonly secretKey: string
  /** Stops the server and deletes its data, if it was started here. */
  readonly remove: () => Promise<void>
}

/**
 * Starts radosgw, or Swift if `WEFT_TEST_S3_SERVER` is `swift`, or uses the server at `WEFT_TEST_S3_URL`, which has the
 * form `s3://ACCESS:SECRET@HOST:PORT/?tls=false`. Tests create their own buckets.
 */
export const s3Server = async (): Promise<S3Server> => {
  const { WEFT_TEST_S3_URL: given, WEFT_TEST_S3_SERVER: kind = "radosgw" } = process.env
  if (given !== undefined) return parseServer(given)
  if (kind === "radosgw") return radosgw()
  if (kind === "swift") return swift()
  throw new Error(`WEFT_TEST_S3_SERVER must be radosgw or swift (got ${kind})`)
}

/** Builds `s3://ACCESS:SECRET@HOST:PORT/BUCKET?tls=false`, the format of `WEFT_STORAGE_URL`. */
export const s3Url = ({ endPoint, port, useSSL, accessKey, secretKey }: S3Server, bucket: string): string =>
  `s3://${encodeURIComponent(accessKey)}:${encodeURIComponent(secretKey)}@${endPoint}:${port}/${bucket}?tls=${useSSL}`

const parseServer = (text: string): S3Server => {
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
