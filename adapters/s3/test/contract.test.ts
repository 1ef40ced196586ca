import { afterAll, beforeAll } from "@effect/vitest"
import { blobStoreContract, blobStoreModel } from "@weft/contract"
import { blobs } from "@weft/s3"
import { type S3Server, s3Server } from "@weft/tooling/services"
import { Effect, Layer } from "effect"
import { newBucket } from "./TestBucket.ts"

let server: S3Server
beforeAll(async () => {
  server = await s3Server()
}, 120_000)
afterAll(() => server.remove())

const fresh = Layer.unwrap(Effect.sync(() => blobs(newBucket(server))))

blobStoreContract("s3", fresh)
blobStoreModel("s3", fresh, 20)
