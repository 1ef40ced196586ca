export { BucketUnusable } from "./BucketUnusable.ts"
export { blobs } from "./S3Blobs.ts"
export { type Patience, type Presign, patience, type S3Options } from "./S3Options.ts"
export { parseUrl, type UrlProblem } from "./StorageUrl.ts"
