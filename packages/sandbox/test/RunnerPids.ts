/** The runner processes of this process, as the operating system sees them. */
import { readFileSync } from "node:fs"

export const runnerPids = (): ReadonlyArray<number> =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "latin1")
    .trim()
    .split(" ")
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("runner/main")
      } catch {
        return false
      }
    })
