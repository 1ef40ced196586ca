/** The project of the current folder: `weft.json` here or in a parent folder. */
import { Effect, FileSystem, Path, Schema } from "effect"
import { failure } from "../Failure.ts"
import { parseJson } from "./JsonFile.ts"

const projectFile = "weft.json"

const ProjectSettings = Schema.Struct({
  /** The name of the project on servers. */
  project: Schema.NonEmptyString.check(
    Schema.isMaxLength(128),
    Schema.isPattern(/^[^/]*$/, { message: "must not contain a slash" })
  ),
  /** The module that exports all functions, relative to `weft.json`. */
  entry: Schema.NonEmptyString,
  /** Folder of files to include in the build, for `svc.asset`. */
  assets: Schema.optionalKey(Schema.NonEmptyString),
  /** Additional conditions for conditional exports of packages. */
  conditions: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  /** Replacements of packages. */
  alias: Schema.optionalKey(Schema.Record(Schema.NonEmptyString, Schema.NonEmptyString)),
  /** Packages that the build leaves out. */
  external: Schema.optionalKey(Schema.Array(Schema.NonEmptyString))
})

export interface Project {
  /** Folder of `weft.json`. */
  readonly folder: string
  readonly name: string
  /** Absolute path. */
  readonly entry: string
  /** Absolute path, or null. */
  readonly assets: string | null
  readonly conditions: ReadonlyArray<string>
  readonly alias: Readonly<Record<string, string>>
  readonly external: ReadonlyArray<string>
}

const noProject = failure(
  "project",
  `No ${projectFile} in this folder or its parent folders`,
  "create a project with `weft init`, or change to its folder"
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
    conditions: settings.conditions ?? [],
    alias: settings.alias ?? {},
    external: settings.external ?? []
  } satisfies Project
}).pipe(
  Effect.catchTag("PlatformError", (error) =>
    Effect.fail(failure("project", `${projectFile} cannot be read: ${error.message}`))
  )
)
