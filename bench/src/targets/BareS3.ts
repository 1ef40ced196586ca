/** The limit of files in a bucket: the S3 client of Weft without Weft. */
import { Readable } from "node:stream"
import type { S3Server } from "@weft/tooling/services"
import { Client } from "minio"
import { compare, generateChunks } from "../load/FileContents.ts"
import type { FileServer } from "./FileTargets.ts"

const bucket = "bare-bench"

export const bareS3 = async ({ endPoint, port, useSSL, accessKey, secretKey }: S3Server): Promise<FileServer> => {
  const client = new Client({ endPoint, port, useSSL, accessKey, secretKey, region: "us-east-1" })
  await client.makeBucket(bucket)
  const put = async (name: string, size: number, by = client): Promise<string> => {
    await by.putObject(bucket, name, Readable.from(generateChunks(0, size), { objectMode: false }), size)
    return name
  }
  return {
    upload: put,
    // The client splits the upload itself and sends the parts in sequence.
    uploadInParts: (name, size, { partBytes }) =>
      put(
        name,
        size,
        new Client({ endPoint, port, useSSL, accessKey, secretKey, region: "us-east-1", partSize: partBytes })
      ),
    download: async (name, size) => compare(await client.getObject(bucket, name), size),
    remove: (name) => client.removeObject(bucket, name),
    pid: null,
    close: async () => undefined
  }
}
