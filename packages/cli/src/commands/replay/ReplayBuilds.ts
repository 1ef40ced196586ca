/** The builds of replays: those of the recorded runs, or another one. */
import { Effect, FileSystem, Path } from "effect"
import { zipSync } from "fflate"
import { downloadBuild } from "../../deployment/ProjectBuilds.ts"
import { failure } from "../../Failure.ts"

/** A recorded run's build, and its project. */
interface BuildRef {
  readonly project_id: string
  readonly build_id: string
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** Returns the zip of a recorded run's build, or of the given one: a zip, a folder with one or with `index.js`, or an id. */
export const readReplayBuild = Effect.fnUntraced(function* (given: string | null, { project_id, build_id }: BuildRef) {
  if (given === null || uuid.test(given)) return yield* downloadBuild(project_id, given ?? build_id)
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.gen(function* () {
    if ((yield* fs.stat(given)).type === "File") return yield* fs.readFile(given)
    const zip = path.join(given, "build.zip")
    return (yield* fs.exists(zip)) ? yield* fs.readFile(zip) : yield* zipFolder(given)
  }).pipe(
    Effect.catchTag("PlatformError", (error) =>
      Effect.fail(
        failure("file", `The build cannot be read: ${error.message}`, "run `weft build`, which writes dist/build.zip")
      )
    )
  )
})

/** Returns a zip of the files of a folder. */
const zipFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const files: Record<string, Uint8Array> = {}
  for (const entry of (yield* fs.readDirectory(folder, { recursive: true })).sort()) {
    const file = path.join(folder, entry)
    if ((yield* fs.stat(file)).type === "File") files[entry.replaceAll(path.sep, "/")] = yield* fs.readFile(file)
  }
  return zipSync(files, { level: 0 })
})
