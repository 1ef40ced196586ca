import { openAsBlob } from "node:fs"
import type { UploadedFile, UploadState } from "@weft/client"
import { Effect, Option, Path, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, misuse } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { type Meter, progressBar } from "../../output/ProgressBar.ts"
import { bytes } from "../../output/Sizes.ts"
import { contentTypeOf } from "./ContentTypes.ts"
import { findLocal, type LocalFile } from "./LocalFiles.ts"
import { type UploadOf, uploadStates } from "./UploadStates.ts"

/** How many files of a folder are under way at once. */
const concurrency = 4

export const put = Command.make(
  "put",
  {
    source: Argument.String("source").pipe(
      Argument.withDescription("A file, - for stdin, or a folder with --recursive")
    ),
    path: Argument.String("path").pipe(
      Argument.withDescription("Where to put it; its own name by default. What ends with / is a folder"),
      Argument.optional
    ),
    contentType: Flag.String("content-type").pipe(
      Flag.withMetavar("type"),
      Flag.withDescription("What it is; by the ending of its name by default"),
      Flag.optional
    ),
    recursive: switchFlag("recursive", "Put all files of a folder, and of the folders in it", "r")
  },
  Effect.fnUntraced(function* ({ source, path, contentType, recursive }) {
    const type = Option.getOrNull(contentType)
    if (source !== "-") return yield* putFiles(source, Option.getOrNull(path), type, recursive)
    if (Option.isNone(path) || path.value.endsWith("/")) {
      return yield* misuse("What comes from stdin has no name", "say its path: weft files put - <path>")
    }
    yield* putStdin(path.value, type)
  })
).pipe(
  Command.withDescription("Upload files, in place of those at their paths; what broke off goes on when it is repeated"),
  Command.withExamples([
    { command: "weft files put launch.mp4 videos/", description: "As videos/launch.mp4" },
    { command: "pg_dump shop | weft files put - backups/shop.sql", description: "From another program" },
    { command: "weft files put --recursive public site", description: "All of a folder" }
  ])
)

const putStdin = Effect.fnUntraced(function* (path: string, type: string | null) {
  const api = yield* Api
  const meter = yield* progressBar(path)
  const input = yield* Stream.toAsyncIterableEffect((yield* Stdio.Stdio).stdin)
  const file = yield* api.ask((weft, asking) =>
    weft.files.upload(path, input, {
      ...asking,
      contentType: type ?? contentTypeOf(path),
      onProgress: ({ sent, total }) => meter.set(sent, total)
    })
  )
  yield* tell(file)
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
  const meters = parts(meter, total)
  const folder = path ?? basename(resolve(source))
  const place = (file: LocalFile) => {
    if (recursive) return `${folder.replace(/\/+$/, "")}/${file.name}`
    return path === null ? file.name : path.endsWith("/") ? `${path}${file.name}` : path
  }
  yield* Effect.forEach(
    files,
    (file) => Effect.flatMap(upload(file, place(file), type ?? contentTypeOf(file.name), meters()), tell),
    { concurrency, discard: true }
  )
}, Effect.scoped)

/** One meter for several uploads, each of which knows its own bytes. */
const parts = (meter: Meter, total: number) => {
  const dones: Array<number> = []
  return (): ((done: number) => void) => {
    const at = dones.push(0) - 1
    return (done) => {
      dones[at] = done
      meter.set(
        dones.reduce((sum, one) => sum + one, 0),
        total
      )
    }
  }
}

const tell = Effect.fnUntraced(function* (file: UploadedFile) {
  const output = yield* Output
  yield* output.line(file, () => `${file.path}  ${bytes(file.size)}`)
})

/** Goes on where an earlier one was, if there was one. */
const upload = Effect.fnUntraced(function* (
  file: LocalFile,
  path: string,
  contentType: string,
  onDone: (bytes: number) => void
) {
  const api = yield* Api
  const states = yield* uploadStates
  const { url } = yield* api.target
  const of: UploadOf = { url, path, source: file.source, size: file.size, changedMs: file.changedMs }
  const blob = yield* Effect.tryPromise({
    try: () => openAsBlob(file.source),
    catch: () => failure("file", `${file.source} cannot be read`)
  })
  // Without the signal of the command: one that is aborted removes what the server has already.
  const attempt = (resume: UploadState | undefined) =>
    api.ask((weft) =>
      weft.files.upload(path, blob, {
        contentType,
        resume,
        onState: (state) => states.keep(of, state),
        onProgress: ({ sent }) => onDone(sent)
      })
    )
  const resume = yield* states.get(of)
  const uploaded = yield* attempt(resume).pipe(
    Effect.catchIf(
      ({ code }) => resume !== undefined && code === "not_found",
      () => attempt(undefined)
    ),
    Effect.catchIf(
      ({ code }) => code === "no_answer" || code === "no_server",
      ({ code, message }) => Effect.fail(failure(code, message, "repeat the command: it goes on where it was"))
    )
  )
  states.forget(of)
  return uploaded
})
