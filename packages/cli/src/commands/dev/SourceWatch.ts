/** Tells of changes in folders as soon as they are written. */
import { type FSWatcher, readdirSync, watch } from "node:fs"
import { dirname, join, sep } from "node:path"
import { Effect, Queue, Stream } from "effect"

export interface SourceWatch {
  /** From now on these folders are watched, and no others. Those that are not there are left out. */
  readonly watch: (folders: ReadonlySet<string>) => Effect.Effect<void>
  /** Once for all that changes within a moment. */
  readonly changes: Stream.Stream<void>
}

/** Editors write a file in more than one step. */
const moment = "15 millis"

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
  const begin = (folder: string) => {
    try {
      const watcher = watch(folder, () => Queue.offerUnsafe(queue, undefined))
      // A folder that is removed is left out when the next change is looked at.
      watcher.on("error", () => stop(folder))
      watchers.set(folder, watcher)
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  return {
    watch: (folders) =>
      Effect.sync(() => {
        for (const folder of watchers.keys()) if (!folders.has(folder)) stop(folder)
        for (const folder of folders) if (!watchers.has(folder)) begin(folder)
      }),
    changes: Stream.debounce(Stream.fromQueue(queue), moment)
  } satisfies SourceWatch
})

/** The folders of all files that a build was made of, and those where files may come that it will be made of. */
export const foldersOf = (inputs: ReadonlyArray<string>, roots: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set([
    ...inputs.map(dirname).filter((folder) => !folder.split(sep).includes(installed)),
    ...roots.flatMap(withFoldersBelow)
  ])

const installed = "node_modules"

const withFoldersBelow = (folder: string): ReadonlyArray<string> => {
  try {
    return [
      folder,
      ...readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && entry.name !== installed && !entry.name.startsWith("."))
        .flatMap((entry) => withFoldersBelow(join(folder, entry.name)))
    ]
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

const isGone = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT"
