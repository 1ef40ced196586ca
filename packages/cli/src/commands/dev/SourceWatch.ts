/** Watches folders for changes. */
import { type FSWatcher, readdirSync, watch } from "node:fs"
import { dirname, join, sep } from "node:path"
import { Effect, Queue, Stream } from "effect"

export interface SourceWatch {
  /** Watches exactly these folders from now on. Skips folders that do not exist. */
  readonly watch: (folders: ReadonlySet<string>) => Effect.Effect<void>
  /** Emits once for all changes within 15 ms. */
  readonly changes: Stream.Stream<void>
}

/** Editors write a file in several steps. */
const debounceTime = "15 millis"

export const makeSourceWatch = Effect.gen(function* () {
  const queue = yield* Queue.sliding<void>(1)
  const watchers = new Map<string, FSWatcher>()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const watcher of watchers.values()) watcher.close()
    })
  )
  const stop = (folder: string) => {
    watchers.get(folder)?.close()
    watchers.delete(folder)
  }
  const start = (folder: string) => {
    try {
      const watcher = watch(folder, () => Queue.offerUnsafe(queue, undefined))
      // A removed folder is dropped at the next change.
      watcher.on("error", () => stop(folder))
      watchers.set(folder, watcher)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  return {
    watch: (folders) =>
      Effect.sync(() => {
        for (const folder of watchers.keys()) if (!folders.has(folder)) stop(folder)
        for (const folder of folders) if (!watchers.has(folder)) start(folder)
      }),
    changes: Stream.debounce(Stream.fromQueue(queue), debounceTime)
  } satisfies SourceWatch
})

/** Returns the folders of all input files of a build, and the folders in which new input files may appear. */
export const listWatchedFolders = (inputs: ReadonlyArray<string>, roots: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set([
    ...inputs.map(dirname).filter((folder) => !folder.split(sep).includes(installed)),
    ...roots.flatMap(listSubfolders)
  ])

const installed = "node_modules"

const listSubfolders = (folder: string): ReadonlyArray<string> => {
  try {
    return [
      folder,
      ...readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== installed && !entry.name.startsWith("."))
        .flatMap((entry) => listSubfolders(join(folder, entry.name)))
    ]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

const isNotFound = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT"
