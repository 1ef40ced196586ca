export { BucketUnusable } from "./BucketUnusable.ts"
export { blobs } from "./S3Blobs.ts"
export { defaultTimeouts, type Presign, type S3Options, type Timeouts } from "./S3Options.ts"
export { parseUrl, type UrlProblem } from "./StorageUrl.ts"
