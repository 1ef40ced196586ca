/** Bundles a project into the zip that servers accept: the entry with all its imports in `index.js`, and the assets. */
import { createHash } from "node:crypto"
import type { BuildFailure, Message } from "@weft/bundler"
import { Effect, FileSystem, Path, type PlatformError } from "effect"
import { zipSync } from "fflate"
import { type Failure, failure } from "../Failure.ts"
import type { Project } from "../project/Project.ts"

export interface Bundle {
  readonly zip: Uint8Array
  /** SHA-256 of the zip, in hex. The same sources always give the same hash. */
  readonly hash: string
  /** Contents of the zip. */
  readonly files: ReadonlyArray<{ readonly name: string; readonly bytes: number }>
  /** Absolute paths of the source files. */
  readonly inputs: ReadonlyArray<string>
}

export interface Bundler {
  /** Fails with the source locations of the errors. */
  readonly bundle: (compression: CompressionLevel) => Effect.Effect<Bundle, Failure>
}

export type CompressionLevel = 0 | 1 | 6 | 9

/** Caches parsed modules: a second bundle takes milliseconds. */
export const makeBundler = Effect.fnUntraced(function* (project: Project) {
  const { openBundler } = yield* Effect.promise(() => import("@weft/bundler"))
  const readAssets = yield* makeAssets(project)
  const bundler = yield* Effect.acquireRelease(
    Effect.sync(() => openBundler(project)),
    (opened) => Effect.promise(() => opened.dispose())
  )
  const rebuild = Effect.tryPromise({ try: () => bundler.bundle(), catch: (error) => error }).pipe(
    Effect.catch((error) => (isBuildFailure(error) ? Effect.fail(toBuildFailure(error)) : Effect.die(error)))
  )

  return {
    bundle: Effect.fnUntraced(function* (compression) {
      const { files: code, inputs } = yield* rebuild
      const assets = yield* readAssets
      const files = { ...assets.files, ...code }
      const zip = zipSync(files, { level: compression, mtime: zipEpoch })
      return {
        zip,
        hash: createHash("sha256").update(zip).digest("hex"),
        files: Object.entries(files).map(([name, contents]) => ({ name, bytes: contents.length })),
        inputs: [...inputs, ...assets.inputs]
      }
    })
  } satisfies Bundler
})

/** Earliest timestamp of the zip format. Zips store local time, so a local date gives the same bytes everywhere. */
const zipEpoch = new Date(1980, 0, 1)

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
      failure("build", `The assets cannot be read: ${error.message}`, "check `assets` in weft.json")
    )
  )
})

const isBuildFailure = (error: unknown): error is BuildFailure => error instanceof Error && "errors" in error

const toBuildFailure = ({ errors }: BuildFailure): Failure =>
  failure(
    "build",
    errors.length === 1 ? "The project does not build" : `The project does not build: ${errors.length} errors`,
    null,
    errors.flatMap(formatError)
  )

/** Returns `file:line:column reason`, a format that terminals and editors recognize, then the source line. */
const formatError = ({ text, location }: Message): ReadonlyArray<string> => {
  if (location === null) return [text]
  // esbuild counts columns from 0, editors from 1.
  const place = `${location.file}:${location.line}:${location.column + 1}`
  return [`${place} ${text}`, `  ${location.lineText.trim()}`]
}
