import type { File } from "@weft/client"
import { Effect, FileSystem, Option, Path, Stdio, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { Api } from "../../connection/Api.ts"
import { failure, misuse } from "../../Failure.ts"
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
      Argument.withDescription("Where to put it: its own name here by default; - for stdout"),
      Argument.optional
    ),
    recursive: switchFlag("recursive", "Get all files below a folder", "r"),
    force: switchFlag("force", "Replace files that are there")
  },
  Effect.fnUntraced(function* ({ path, destination, recursive, force }) {
    const to = Option.getOrNull(destination)
    if (recursive) {
      if (to === "-") return yield* misuse("A folder does not go to stdout", "name a folder to put it into")
      return yield* getFolder(path, to, force)
    }
    const file = yield* findFile(path)
    if (to === "-") return yield* toStdout(file)
    yield* toFile(file, yield* placeOf(file, to), force)
  })
).pipe(
  Command.withDescription("Download files"),
  Command.withExamples([
    { command: "weft files get videos/launch.mp4", description: "As launch.mp4" },
    { command: "weft files get reports/today.csv - | head", description: "To another program" },
    { command: "weft files get --recursive site backup", description: "All of a folder, into another" }
  ])
)

/** A folder that is there takes files by their names. */
const placeOf = Effect.fnUntraced(function* (file: File, destination: string | null) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = file.path.slice(file.path.lastIndexOf("/") + 1)
  if (destination === null) return path.resolve(name)
  const isFolder = destination.endsWith("/") || (yield* isFolderAt(fs, destination))
  return isFolder ? path.resolve(destination, name) : path.resolve(destination)
})

const isFolderAt = (fs: FileSystem.FileSystem, place: string) =>
  fs.stat(place).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )

const getFolder = Effect.fnUntraced(function* (folder: string, destination: string | null, force: boolean) {
  const path = yield* Path.Path
  const prefix = `${folder.replace(/\/+$/, "")}/`
  const root = path.resolve(destination ?? path.basename(prefix))
  for (const file of yield* findFolder(folder)) {
    const place = path.resolve(root, file.path.slice(prefix.length))
    // Servers refuse such paths; this one may not be what it says.
    if (!place.startsWith(root + path.sep)) return yield* failure("file", `${file.path} leads out of ${root}`)
    yield* toFile(file, place, force)
  }
})

const brokenOff = () => failure("no_answer", "The download broke off", "try again")

const contentOf = Effect.fnUntraced(function* (file: File) {
  const api = yield* Api
  const response = yield* api.ask((weft, asking) => weft.files.download(file.file_id, asking))
  const { body } = response
  return body === null ? Stream.empty : Stream.fromReadableStream({ evaluate: () => body, onError: brokenOff })
})

const toStdout = Effect.fnUntraced(function* (file: File) {
  const stdio = yield* Stdio.Stdio
  yield* Stream.run(yield* contentOf(file), stdio.stdout({ endOnDone: false })).pipe(
    Effect.catchTag("PlatformError", (error) =>
      Effect.fail(failure("stdout", `stdout takes no more: ${error.message}`))
    )
  )
})

/** Whole or not at all. */
const toFile = Effect.fnUntraced(
  function* (file: File, place: string, force: boolean) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const output = yield* Output
    if (!force && (yield* fs.exists(place))) {
      return yield* failure("exists", `${place} is there already`, "--force replaces it")
    }
    yield* fs.makeDirectory(path.dirname(place), { recursive: true })
    const folder = yield* fs.makeTempDirectoryScoped({ directory: path.dirname(place), prefix: ".weft-" })
    const draft = path.join(folder, "draft")
    const meter = yield* progressBar(file.path)
    let done = 0
    const content = Stream.tap(yield* contentOf(file), (chunk) =>
      Effect.sync(() => {
        done += chunk.byteLength
        meter.set(done, file.size)
      })
    )
    yield* Stream.run(content, fs.sink(draft))
    yield* fs.rename(draft, place)
    yield* output.line(file, () => `${place}  ${bytes(done)}`)
  },
  Effect.catchTag("PlatformError", (error) => Effect.fail(failure("file", `It cannot be written: ${error.message}`))),
  Effect.scoped
)
