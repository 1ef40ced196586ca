/**
 * The journal's thread, begun before Weft itself is loaded.
 *
 * It takes nearly as long to load its modules as its process does, and whoever starts waits for both. This module loads
 * nothing else, so that they can do it at the same time.
 */
import { Worker } from "node:worker_threads"

const workerFile = new URL("./JournalWorker.ts", import.meta.url)

let ahead: Worker | undefined

const begin = (): Worker => new Worker(workerFile, { name: "weft-journal" })

/**
 * Begins the thread that the next `stores` in this process with a file will have. Import `@weft/sqlite/ahead` and call
 * this first, and all else of Weft by `import()` afterwards. Does not keep a process that opens no file.
 */
export const beginThread = (): void => {
  if (ahead !== undefined) return
  const worker = begin()
  worker.unref()
  // Who opens a file is told by a thread of its own what is wrong.
  worker.on("error", () => undefined)
  worker.once("exit", () => {
    if (ahead === worker) ahead = undefined
  })
  ahead = worker
}

/** The thread that was begun, or a new one. */
export const takeThread = (): Worker => {
  const worker = ahead ?? begin()
  ahead = undefined
  worker.ref()
  return worker
}
