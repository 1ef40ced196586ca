import type { File } from "@weft/client"
import { Effect, FileSystem, Option, Path, Stdio, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"
import { Output } from "../../output/Output.ts"
import { progressBar } from "../../output/ProgressBar.ts"
import { bytes } from "../../output/Sizes.ts"
import { findFile, findFolder } from "./RemoteFiles.ts"

export const get = Command.make(
  "get",
  {
    path: Argument.String("path").pipe(Argument.withDescription("A file, or a folder with --recursive")),
    destination: Argument.String("destination").pipe(
      Argument.withDescription("Local path, - for stdout; by default its name in the current folder"),
      Argument.optional
    ),
    recursive: switchFlag("recursive", "Download all files below a folder", "r"),
    force: switchFlag("force", "Replace existing files")
  },
  Effect.fnUntraced(function* ({ path, destination, recursive, force }) {
    const to = Option.getOrNull(destination)
    if (recursive) {
      if (to === "-") return yield* usageError("A folder cannot be written to stdout", "name a destination folder")
      return yield* getFolder(path, to, force)
    }
    const file = yield* findFile(path)
    if (to === "-") return yield* toStdout(file)
    yield* toFile(file, yield* resolveDestination(file, to), force)
  })
).pipe(
  Command.withDescription("Download files"),
  Command.withExamples([
    { command: "weft files get videos/launch.mp4", description: "As launch.mp4" },
    { command: "weft files get reports/today.csv - | head", description: "Into another program" },
    { command: "weft files get --recursive site backup", description: "All files of a folder" }
  ])
)

/** Returns the local path. If the destination is a folder, the file keeps its name. */
const resolveDestination = Effect.fnUntraced(function* (file: File, destination: string | null) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = file.path.slice(file.path.lastIndexOf("/") + 1)
  if (destination === null) return path.resolve(name)
  const isFolder = destination.endsWith("/") || (yield* isFolderAt(fs, destination))
  return isFolder ? path.resolve(destination, name) : path.resolve(destination)
})

const isFolderAt = (fs: FileSystem.FileSystem, localPath: string) =>
  fs.stat(localPath).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )

const getFolder = Effect.fnUntraced(function* (folder: string, destination: string | null, force: boolean) {
  const path = yield* Path.Path
  const prefix = `${folder.replace(/\/+$/, "")}/`
  const root = path.resolve(destination ?? path.basename(prefix))
  for (const file of yield* findFolder(folder)) {
    const localPath = path.resolve(root, file.path.slice(prefix.length))
    // Servers reject such paths, but this server is not trusted.
    if (!localPath.startsWith(root + path.sep)) return yield* failure("file", `${file.path} is outside of ${root}`)
    yield* toFile(file, localPath, force)
  }
})

const interrupted = () => failure("no_answer", "The download was interrupted", "try again")

const readContent = Effect.fnUntraced(function* (file: File) {
  const api = yield* Api
  const response = yield* api.request((weft, options) => weft.files.download(file.file_id, options))
  const { body } = response
  return body === null ? Stream.empty : Stream.fromReadableStream({ evaluate: () => body, onError: interrupted })
})

const toStdout = Effect.fnUntraced(function* (file: File) {
  const stdio = yield* Stdio.Stdio
  yield* Stream.run(yield* readContent(file), stdio.stdout({ endOnDone: false })).pipe(
    Effect.catchTag("PlatformError", (error) =>
      Effect.fail(failure("stdout", `stdout cannot be written: ${error.message}`))
    )
  )
})

/** Downloads into a temporary file and renames it, so that no partial file appears. */
const toFile = Effect.fnUntraced(
  function* (file: File, localPath: string, force: boolean) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const output = yield* Output
    if (!force && (yield* fs.exists(localPath))) {
      return yield* failure("exists", `${localPath} already exists`, "--force replaces it")
    }
    yield* fs.makeDirectory(path.dirname(localPath), { recursive: true })
    const folder = yield* fs.makeTempDirectoryScoped({ directory: path.dirname(localPath), prefix: ".weft-" })
    const draft = path.join(folder, "draft")
    const meter = yield* progressBar(file.path)
    let done = 0
    const content = Stream.tap(yield* readContent(file), (chunk) =>
      Effect.sync(() => {
        done += chunk.byteLength
        meter.set(done, file.size)
      })
    )
    yield* Stream.run(content, fs.sink(draft))
    yield* fs.rename(draft, localPath)
    yield* output.line(file, () => `${localPath}  ${bytes(done)}`)
  },
  Effect.catchTag("PlatformError", (error) =>
    Effect.fail(failure("file", `The download cannot be written: ${error.message}`))
  ),
  Effect.scoped
)
