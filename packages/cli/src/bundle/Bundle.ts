/** From a project's sources to the zip that servers take: everything that its entry imports in `index.js`, and its assets. */
import { createHash } from "node:crypto"
import { isBuiltin } from "node:module"
import { resolve } from "node:path"
import { Effect, FileSystem, Path, type PlatformError } from "effect"
import type { BuildFailure, BuildOptions, Message } from "esbuild"
import { zipSync } from "fflate"
import { type Failure, failure } from "../Failure.ts"
import type { Project } from "../project/Project.ts"

export interface Bundle {
  readonly zip: Uint8Array
  /** SHA-256 of the zip, in hex. The same sources always give the same. */
  readonly hash: string
  /** What is in the zip. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly bytes: number }>
  /** The files that it was made of, absolute. */
  readonly inputs: ReadonlyArray<string>
}

export interface Bundler {
  /** Fails with the places in the sources. `compression` is from 0 to 9. */
  readonly bundle: (compression: CompressionLevel) => Effect.Effect<Bundle, Failure>
}

export type CompressionLevel = 0 | 1 | 6 | 9

/** Remembers what it has parsed, so that bundling again takes milliseconds. */
export const makeBundler = Effect.fnUntraced(function* (project: Project) {
  const { context } = yield* Effect.promise(() => import("esbuild"))
  const assetsOf = yield* makeAssets(project)
  const esbuild = yield* Effect.acquireRelease(
    Effect.promise(() => context(optionsOf(project))),
    (opened) => Effect.promise(() => opened.dispose())
  )
  const rebuild = Effect.tryPromise({ try: () => esbuild.rebuild(), catch: (error) => error }).pipe(
    Effect.catch((error) => (isBuildFailure(error) ? Effect.fail(unbuildable(error)) : Effect.die(error)))
  )

  return {
    bundle: Effect.fnUntraced(function* (compression) {
      const { outputFiles, metafile } = yield* rebuild
      const code = Object.fromEntries(outputFiles.map(({ path, contents }) => [nameOf(path), contents]))
      const assets = yield* assetsOf
      const files = { ...assets.files, ...code }
      const zip = zipSync(files, { level: compression, mtime: firstDay })
      return {
        zip,
        hash: createHash("sha256").update(zip).digest("hex"),
        files: Object.entries(files).map(([name, contents]) => ({ name, bytes: contents.length })),
        inputs: [...Object.keys(metafile.inputs).map((input) => resolve(project.folder, input)), ...assets.inputs]
      }
    })
  } satisfies Bundler
})

/** Beside `weft.json`: `svc.asset` finds the zip's files by these names. */
const nameOf = (path: string): string => path.replace(/^.*[\\/]/, "")

/** Zips know no earlier one. In local time, as zips have it, so that it is the same everywhere. */
const firstDay = new Date(1980, 0, 1)

const optionsOf = ({ folder, entry, conditions }: Project) =>
  ({
    absWorkingDir: folder,
    entryPoints: [entry],
    outfile: "index.js",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: [...conditions],
    target: "es2024",
    sourcemap: "linked",
    // Stacks need names and lines; the sources themselves stay here.
    sourcesContent: false,
    logLevel: "silent"
  }) satisfies BuildOptions

const makeAssets = Effect.fnUntraced(function* ({ folder, assets }: Project) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (assets === null) return Effect.succeed({ files: {}, inputs: [] })
  return Effect.gen(function* () {
    const files: Record<string, Uint8Array> = {}
    const inputs: Array<string> = []
    for (const entry of (yield* fs.readDirectory(assets, { recursive: true })).sort()) {
      const file = path.join(assets, entry)
      if ((yield* fs.stat(file)).type !== "File") continue
      files[path.relative(folder, file).replaceAll(path.sep, "/")] = yield* fs.readFile(file)
      inputs.push(file)
    }
    return { files, inputs }
  }).pipe(
    Effect.mapError((error: PlatformError.PlatformError) =>
      failure("build", `The assets cannot be read: ${error.message}`, "weft.json names their folder")
    )
  )
})

const isBuildFailure = (error: unknown): error is BuildFailure => error instanceof Error && "errors" in error

const unbuildable = ({ errors }: BuildFailure): Failure =>
  failure(
    "build",
    errors.length === 1 ? "The project does not build" : `The project does not build: ${errors.length} errors`,
    null,
    errors.flatMap(placed)
  )

/** `file:line:column reason`, which terminals and editors know, and the line itself. */
const placed = ({ text, location }: Message): ReadonlyArray<string> => {
  const reason = reasonOf(text)
  if (location === null) return [reason]
  // Columns count from 0 here, and from 1 in editors.
  const place = `${location.file}:${location.line}:${location.column + 1}`
  return [`${place} ${reason}`, `  ${location.lineText.trim()}`]
}

const reasonOf = (text: string): string => {
  const name = /^Could not resolve "([^"]+)"/.exec(text)?.[1]
  return name !== undefined && isBuiltin(name) ? `Functions run without Node's modules, such as "${name}"` : text
}
