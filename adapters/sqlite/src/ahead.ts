/**
 * Starts the journal's thread before Weft itself is loaded.
 *
 * The thread takes nearly as long to load its modules as the main thread does, and a start waits for both. This module
 * imports nothing else, so that both can load at the same time.
 */
import { Worker } from "node:worker_threads"

const workerFile = new URL("./JournalWorker.ts", import.meta.url)

let prestarted: Worker | undefined

const startWorker = (): Worker => new Worker(workerFile, { name: "weft-journal" })

/**
 * Starts the thread for the next `database` with a file in this process. Import `@weft/sqlite/ahead` and call this
 * first, then load the rest of Weft with `import()`. Does not keep a process alive that opens no file.
 */
export const beginThread = (): void => {
  if (prestarted !== undefined) return
  const worker = startWorker()
  worker.unref()
  // Errors are ignored: a database whose thread has ended starts another one, which reports them.
  worker.on("error", () => undefined)
  worker.once("exit", () => {
    if (prestarted === worker) prestarted = undefined
  })
  prestarted = worker
}

/** Returns the started thread, or a new one. */
export const takeThread = (): Worker => {
  const worker = prestarted ?? startWorker()
  prestarted = undefined
  worker.ref()
  return worker
}
