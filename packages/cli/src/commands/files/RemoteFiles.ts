/** Finds files of the environment by path. */
import type { File } from "@weft/client"
import { Effect } from "effect"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { loadPages } from "../Lists.ts"

/** Returns the file with exactly this path. */
export const findFile = Effect.fnUntraced(function* (path: string) {
  const api = yield* Api
  // The list is sorted by path: an exact match precedes all longer paths with this prefix.
  const { items } = yield* api.request((weft, options) => weft.files.list({ prefix: path, limit: 1 }, options))
  const [file] = items
  if (file?.path === path) return file
  const isFolder = file?.path.startsWith(`${path.replace(/\/+$/, "")}/`) === true
  return yield* failure(
    "not_found",
    `No file exists at ${path}`,
    isFolder ? "it is a folder: give --recursive" : "see `weft files list`"
  )
})

/** Returns all files below a folder, sorted by path. Fails if there are no files. */
export const findFolder = Effect.fnUntraced(function* (folder: string) {
  const api = yield* Api
  const prefix = `${folder.replace(/\/+$/, "")}/`
  const { items } = yield* api.request((weft, options) =>
    loadPages<File>({ limit: 0, all: true }, (page) => weft.files.list({ prefix, ...page }, options))
  )
  if (items.length > 0) return items
  return yield* failure("not_found", `No files exist below ${prefix}`, "see `weft files list`")
})
