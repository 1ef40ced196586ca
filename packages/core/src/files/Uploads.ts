/** Uploads in parts, of the caller's environment (specification, "Multipart upload"). */
import { Context, type Effect } from "effect"
import type { Caller } from "../access/Caller.ts"
import type { BadRequest, Forbidden, NotFound, PlanRequired, StoreUnavailable } from "../errors/Errors.ts"
import type { File } from "./File.ts"
import type { Content } from "./Files.ts"
import type { MultipartUpload, UploadedPart } from "./MultipartUpload.ts"

export interface NewUpload {
  readonly path: string
  /** Bytes; makes the quota be checked at once, and says how many parts to expect. */
  readonly expected_size?: number
  /** `application/octet-stream` by default. */
  readonly content_type?: string
}

export const partBytesMin = 5 * 1024 ** 2
export const partBytesMax = 256 * 1024 ** 2
export const partsMax = 10_000

type Denied = Forbidden | StoreUnavailable

export class Uploads extends Context.Service<
  Uploads,
  {
    readonly initiate: (input: NewUpload) => Effect.Effect<MultipartUpload, Denied | BadRequest | PlanRequired, Caller>
    /** `partNumber` is what the URL says. A part that is there is replaced. */
    readonly putPart: <E>(
      uploadId: string,
      partNumber: string,
      content: Content<E>
    ) => Effect.Effect<UploadedPart, E | Denied | BadRequest | NotFound | PlanRequired, Caller>
    /** `BadRequest`, and the upload stays open, for a gap, a short part that is not the last, or another total than announced. */
    readonly complete: (uploadId: string) => Effect.Effect<File, Denied | BadRequest | NotFound | PlanRequired, Caller>
    readonly abort: (uploadId: string) => Effect.Effect<void, Denied | NotFound, Caller>
  }
>()("@weft/core/files/Uploads") {}
