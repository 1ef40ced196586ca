/** Waits until a process of the reference server listens. */
import type { ChildProcess } from "node:child_process"
import { createInterface } from "node:readline"

const prefix = "weft listening on "

/**
 * Returns the URL that the server writes when it listens. Rejects if the server exits before, or does not listen within
 * `timeoutMs`.
 */
export const listening = (child: ChildProcess, timeoutMs?: number): Promise<string> =>
  new Promise((resolve, reject) => {
    if (child.stdout === null) return reject(new Error("The server has no output"))
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => reject(new Error(`The server did not listen within ${timeoutMs} ms`)), timeoutMs)
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith(prefix)) return
      clearTimeout(timer)
      resolve(line.slice(prefix.length))
    })
    child.once("exit", (code) => {
      clearTimeout(timer)
      reject(new Error(`The server exited with code ${code} before it listened`))
    })
  })
