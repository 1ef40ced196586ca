import { openAsBlob } from "node:fs"
import type { UploadedFile, UploadState } from "@weft/client"
import { Effect, Option, Path, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { type ProgressMeter, progressBar } from "../../output/ProgressBar.ts"
import { bytes } from "../../output/Sizes.ts"
import { getContentType } from "./ContentTypes.ts"
import { findLocal, type LocalFile } from "./LocalFiles.ts"
import { type UploadKey, uploadStates } from "./UploadStates.ts"

/** Maximum number of concurrent uploads. */
const concurrency = 4

export const put = Command.make(
  "put",
  {
    source: Argument.String("source").pipe(
      Argument.withDescription("A file, - for stdin, or a folder with --recursive")
    ),
    path: Argument.String("path").pipe(
      Argument.withDescription("Path in the environment, the file name by default; a final / names a folder"),
      Argument.optional
    ),
    contentType: Flag.String("content-type").pipe(
      Flag.withMetavar("type"),
      Flag.withDescription("Content type; by default it follows from the extension"),
      Flag.optional
    ),
    recursive: switchFlag("recursive", "Upload all files below a folder", "r")
  },
  Effect.fnUntraced(function* ({ source, path, contentType, recursive }) {
    const type = Option.getOrNull(contentType)
    if (source !== "-") return yield* putFiles(source, Option.getOrNull(path), type, recursive)
    if (Option.isNone(path) || path.value.endsWith("/")) {
      return yield* usageError("stdin has no file name", "give the path: weft files put - <path>")
    }
    yield* putStdin(path.value, type)
  })
).pipe(
  Command.withDescription("Upload files, replacing existing ones; a repeated command resumes an interrupted upload"),
  Command.withExamples([
    { command: "weft files put launch.mp4 videos/", description: "As videos/launch.mp4" },
    { command: "pg_dump shop | weft files put - backups/shop.sql", description: "From another program" },
    { command: "weft files put --recursive public site", description: "All files of a folder" }
  ])
)

const putStdin = Effect.fnUntraced(function* (path: string, type: string | null) {
  const api = yield* Api
  const meter = yield* progressBar(path)
  const input = yield* Stream.toAsyncIterableEffect((yield* Stdio.Stdio).stdin)
  const file = yield* api.request((weft, options) =>
    weft.files.upload(path, input, {
      ...options,
      contentType: type ?? getContentType(path),
      onProgress: ({ sent, total }) => meter.set(sent, total)
    })
  )
  yield* printUploaded(file)
}, Effect.scoped)

const putFiles = Effect.fnUntraced(function* (
  source: string,
  path: string | null,
  type: string | null,
  recursive: boolean
) {
  const { basename, resolve } = yield* Path.Path
  const files = yield* findLocal(source, recursive)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  const meter = yield* progressBar(files.length === 1 ? source : `${source}, ${files.length} files`)
  const meters = splitMeter(meter, total)
  const folder = path ?? basename(resolve(source))
  const place = (file: LocalFile) => {
    if (recursive) return `${folder.replace(/\/+$/, "")}/${file.name}`
    return path === null ? file.name : path.endsWith("/") ? `${path}${file.name}` : path
  }
  yield* Effect.forEach(
    files,
    (file) => Effect.flatMap(upload(file, place(file), type ?? getContentType(file.name), meters()), printUploaded),
    { concurrency, discard: true }
  )
}, Effect.scoped)

/** Combines the progress of several uploads into one bar. */
const splitMeter = (meter: ProgressMeter, total: number) => {
  const doneByUpload: Array<number> = []
  return (): ((done: number) => void) => {
    const at = doneByUpload.push(0) - 1
    return (done) => {
      doneByUpload[at] = done
      meter.set(
        doneByUpload.reduce((sum, one) => sum + one, 0),
        total
      )
    }
  }
}

const printUploaded = Effect.fnUntraced(function* (file: UploadedFile) {
  const output = yield* Output
  yield* output.line(file, () => `${file.path}  ${bytes(file.size)}`)
})

/** Uploads a file, or resumes an earlier upload of it. */
const upload = Effect.fnUntraced(function* (
  file: LocalFile,
  path: string,
  contentType: string,
  onDone: (bytes: number) => void
) {
  const api = yield* Api
  const states = yield* uploadStates
  const { url } = yield* api.target
  const key: UploadKey = { url, path, source: file.source, size: file.size, changedMs: file.changedMs }
  const blob = yield* Effect.tryPromise({
    try: () => openAsBlob(file.source),
    catch: () => failure("file", `${file.source} cannot be read`)
  })
  // Without the signal of the command: an abort would delete the parts on the server.
  const attempt = (resume: UploadState | undefined) =>
    api.request((weft) =>
      weft.files.upload(path, blob, {
        contentType,
        resume,
        onState: (state) => states.save(key, state),
        onProgress: ({ sent }) => onDone(sent)
      })
    )
  const resume = yield* states.get(key)
  const uploaded = yield* attempt(resume).pipe(
    Effect.catchIf(
      ({ code }) => resume !== undefined && code === "not_found",
      () => attempt(undefined)
    ),
    Effect.catchIf(
      ({ code }) => code === "no_answer" || code === "no_server",
      ({ code, message }) => Effect.fail(failure(code, message, "repeat the command to resume the upload"))
    )
  )
  states.remove(key)
  return uploaded
})
