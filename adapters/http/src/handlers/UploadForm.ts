/** Reader of the multipart form of a build upload, into memory and within limits. */
import { UploadFields } from "@weft/api"
import { BadRequest } from "@weft/core"
import { ByteSize, Effect, Schema, SchemaIssue, Stream } from "effect"
import { Multipart } from "effect/http"
import { BodyBudgetExceeded } from "../bodies/BodyBudgetExceeded.ts"
import type { BufferedBody } from "../bodies/BufferedBody.ts"

export interface UploadForm {
  readonly zip: Uint8Array
  readonly fields: typeof UploadFields.Type
}

/** Maximum bytes of the form besides the file: names, boundaries, the other fields. */
const formOverheadBytes = 64 * 1024

/** Rejects a `Content-Length` above the maximum before the body is read. */
export const checkContentLength = (
  contentLength: string | undefined,
  archiveBytes: number
): Effect.Effect<void, BadRequest> =>
  contentLength !== undefined && Number(contentLength) > archiveBytes + formOverheadBytes
    ? Effect.fail(tooLarge(archiveBytes))
    : Effect.void

/** `archive` receives the file. */
export const readUploadForm = Effect.fnUntraced(function* (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  archiveBytes: number,
  archive: BufferedBody
): Effect.fn.Return<UploadForm, BadRequest> {
  const limits = Multipart.limitsServices({
    maxParts: 16,
    maxFieldSize: ByteSize.bytes(4096),
    // The parser also counts the headers of the part.
    maxFileSize: ByteSize.bytes(archiveBytes + formOverheadBytes),
    maxTotalSize: ByteSize.bytes(archiveBytes + formOverheadBytes)
  })
  const fields = new Map<string, string>()
  let hasFile = false
  let fileBytes = 0
  const takeChunk = (chunk: Uint8Array): Effect.Effect<void, BadRequest> => {
    fileBytes += chunk.length
    if (fileBytes > archiveBytes) return Effect.fail(tooLarge(archiveBytes))
    return archive.add(chunk) ? Effect.void : Effect.die(new BodyBudgetExceeded())
  }
  const take = Effect.fnUntraced(function* (part: Multipart.Part) {
    if (part._tag === "Field") return void fields.set(part.key, part.value)
    if (part.key !== "file") return yield* Stream.runDrain(part.content)
    if (hasFile) return yield* new BadRequest({ reason: "file: appears more than once" })
    hasFile = true
    yield* Stream.runForEach(part.content, takeChunk)
  })
  // The parser throws if a boundary directly follows the headers of a part.
  const readable = Stream.catchDefect(Stream.provideContext(parts, limits), (defect) =>
    Stream.fail(Multipart.MultipartError.fromReason("Parse", defect))
  )
  yield* Stream.runForEach(readable, take).pipe(
    Effect.mapError((error) => (error._tag === "MultipartError" ? formFault(error, archiveBytes) : error))
  )
  const zip = hasFile ? archive.take() : null
  if (zip === null) {
    return yield* new BadRequest({ reason: fields.has("file") ? "file: must be sent as a file" : "file: is missing" })
  }
  return { zip, fields: yield* decodeFields(Object.fromEntries(fields)) }
})

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const decodeFields = (fields: unknown): Effect.Effect<typeof UploadFields.Type, BadRequest> =>
  Effect.mapError(Schema.decodeUnknownEffect(UploadFields)(fields), ({ issue }) => {
    const [first] = format(issue).issues
    const message = first?.message === "Missing key" ? "is missing" : first?.message
    return new BadRequest({ reason: `${String(first?.path?.[0] ?? "form")}: ${message ?? "is not valid"}` })
  })

const tooLarge = (archiveBytes: number) => new BadRequest({ reason: `file: is larger than ${archiveBytes} bytes` })

const formFault = (error: Multipart.MultipartError, archiveBytes: number): BadRequest => {
  switch (error.reason._tag) {
    case "FileTooLarge":
    case "BodyTooLarge":
      return tooLarge(archiveBytes)
    case "FieldTooLarge":
      return new BadRequest({ reason: "A field of the form is too large" })
    case "TooManyParts":
      return new BadRequest({ reason: "The form has too many parts" })
    default:
      return new BadRequest({ reason: "The body is not a complete multipart/form-data form" })
  }
}
