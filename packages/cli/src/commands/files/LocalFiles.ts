/** Finds local files to upload. */
import { Effect, FileSystem, Option, Path, type PlatformError } from "effect"
import { failure, usageError } from "../../Failure.ts"

export interface LocalFile {
  /** Absolute path. */
  readonly source: string
  /** Path relative to the folder, with `/` separators; for a single file, its name. */
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since 1970. */
  readonly changedMs: number
}

const unreadable = (name: string) => (error: PlatformError.PlatformError) =>
  failure("file", `${name} cannot be read: ${error.reason._tag === "NotFound" ? "no such file" : error.message}`)

const localFile = Effect.fnUntraced(function* (source: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(source)
  if (info.type !== "File") return null
  const changedMs = Option.match(info.mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
  return { source, name, size: Number(info.size), changedMs } satisfies LocalFile
})

/** Returns the file, or with `recursive` all files below the folder. */
export const findLocal = Effect.fnUntraced(function* (given: string, recursive: boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = path.resolve(given)
  const readable = Effect.mapError(unreadable(given))
  const { type } = yield* readable(fs.stat(source))
  if (type !== "Directory") {
    const file = yield* readable(localFile(source, path.basename(source)))
    return file === null
      ? yield* usageError(`${given} is not a regular file`, "pipe it in, with - instead of its name")
      : [file]
  }
  if (!recursive) return yield* usageError(`${given} is a folder`, "give --recursive to upload all files in it")
  const names = yield* readable(fs.readDirectory(source, { recursive: true }))
  const files = yield* Effect.forEach(names.toSorted(), (name) =>
    readable(localFile(path.join(source, name), name.split(path.sep).join("/")))
  )
  return files.filter((file) => file !== null)
})
