/** The multipart form of a build upload, read into memory within bounds. A client that goes away leaves nothing. */
import { UploadFields } from "@weft/api"
import { BadRequest } from "@weft/core"
import { ByteSize, Effect, Schema, SchemaIssue, Stream } from "effect"
import { Multipart } from "effect/http"

export interface UploadForm {
  readonly zip: Uint8Array
  readonly fields: typeof UploadFields.Type
}

/** What the form takes beside the file: names, boundaries, the other fields. */
const slackBytes = 64 * 1024

/** Refuses by the announced length, before a byte of the body is read. */
export const checkAnnounced = (
  contentLength: string | undefined,
  archiveBytes: number
): Effect.Effect<void, BadRequest> =>
  contentLength !== undefined && Number(contentLength) > archiveBytes + slackBytes
    ? Effect.fail(tooLarge(archiveBytes))
    : Effect.void

export const readUploadForm = Effect.fnUntraced(function* (
  parts: Stream.Stream<Multipart.Part, Multipart.MultipartError>,
  archiveBytes: number
): Effect.fn.Return<UploadForm, BadRequest> {
  const limits = Multipart.limitsServices({
    maxParts: 16,
    maxFieldSize: ByteSize.bytes(4096),
    // It counts the head of the part, too.
    maxFileSize: ByteSize.bytes(archiveBytes + slackBytes),
    maxTotalSize: ByteSize.bytes(archiveBytes + slackBytes)
  })
  const fields = new Map<string, string>()
  const files: Array<Uint8Array> = []
  const take = Effect.fnUntraced(function* (part: Multipart.Part) {
    if (part._tag === "Field") return void fields.set(part.key, part.value)
    if (part.key !== "file") return yield* Stream.runDrain(part.content)
    if (files.length > 0) return yield* new BadRequest({ reason: "file: is there more than once" })
    const file = yield* part.contentEffect
    if (file.length > archiveBytes) return yield* tooLarge(archiveBytes)
    files.push(file)
  })
  // The parser throws where a boundary follows the head of a part at once.
  const readable = Stream.catchDefect(Stream.provideContext(parts, limits), (defect) =>
    Stream.fail(Multipart.MultipartError.fromReason("Parse", defect))
  )
  yield* Stream.runForEach(readable, take).pipe(
    Effect.mapError((error) => (error._tag === "MultipartError" ? formFault(error, archiveBytes) : error))
  )
  const [zip] = files
  if (zip === undefined) {
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
