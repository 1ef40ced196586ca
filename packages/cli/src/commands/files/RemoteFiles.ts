/** Files of the environment, by their paths. */
import type { File } from "@weft/client"
import { Effect } from "effect"
import { Api } from "../../connection/Api.ts"
import { failure } from "../../Failure.ts"
import { listed } from "../Listing.ts"

/** The file at exactly this path. */
export const findFile = Effect.fnUntraced(function* (path: string) {
  const api = yield* Api
  // By path: nothing that begins so comes before it.
  const { items } = yield* api.ask((weft, asking) => weft.files.list({ prefix: path, limit: 1 }, asking))
  const [file] = items
  if (file?.path === path) return file
  const isFolder = file?.path.startsWith(`${path.replace(/\/+$/, "")}/`) === true
  return yield* failure(
    "not_found",
    `There is no file ${path}`,
    isFolder ? "it is a folder: give --recursive" : "see `weft files list`"
  )
})

/** All files below a folder, by path; at least one. */
export const findFolder = Effect.fnUntraced(function* (folder: string) {
  const api = yield* Api
  const prefix = `${folder.replace(/\/+$/, "")}/`
  const { items } = yield* api.ask((weft, asking) =>
    listed<File>({ limit: 0, all: true }, (page) => weft.files.list({ prefix, ...page }, asking))
  )
  if (items.length > 0) return items
  return yield* failure("not_found", `There are no files below ${prefix}`, "see `weft files list`")
})
