/** The project that the current folder is of: `weft.json`, there or in a folder above. */
import { Effect, FileSystem, Path, Schema } from "effect"
import { failure } from "../Failure.ts"
import { parseJson } from "./JsonFile.ts"

export const projectFile = "weft.json"

export const ProjectSettings = Schema.Struct({
  /** The name of the project on servers. */
  project: Schema.NonEmptyString.check(
    Schema.isMaxLength(128),
    Schema.isPattern(/^[^/]*$/, { message: "must have no slash" })
  ),
  /** The module that exports all functions, from the file's folder on. */
  entry: Schema.NonEmptyString,
  /** A folder whose files go into the build, for `svc.asset`. */
  assets: Schema.optionalKey(Schema.NonEmptyString),
  /** Further conditions by which packages choose what they export. */
  conditions: Schema.optionalKey(Schema.Array(Schema.NonEmptyString))
})

export interface Project {
  /** Where `weft.json` is. */
  readonly folder: string
  readonly name: string
  /** Absolute. */
  readonly entry: string
  /** Absolute; null without. */
  readonly assets: string | null
  readonly conditions: ReadonlyArray<string>
}

const noProject = failure(
  "project",
  `There is no ${projectFile} here or in a folder above`,
  "make a project with `weft init`, or go to its folder"
)

export const readProject = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const find = Effect.fnUntraced(function* (from: string) {
    for (let folder = from; ; folder = path.dirname(folder)) {
      if (yield* fs.exists(path.join(folder, projectFile))) return folder
      if (folder === path.dirname(folder)) return yield* noProject
    }
  })
  const folder = yield* find(path.resolve("."))
  const file = path.join(folder, projectFile)
  const settings = yield* parseJson("project", file, ProjectSettings, yield* fs.readFileString(file))
  return {
    folder,
    name: settings.project,
    entry: path.resolve(folder, settings.entry),
    assets: settings.assets === undefined ? null : path.resolve(folder, settings.assets),
    conditions: settings.conditions ?? []
  } satisfies Project
}).pipe(
  Effect.catchTag("PlatformError", (error) =>
    Effect.fail(failure("project", `${projectFile} cannot be read: ${error.message}`))
  )
)
