/** Lists the compiler processes of this process, from /proc. */
import { readFileSync } from "node:fs"

export const compilerPids = (): ReadonlyArray<number> =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean)
    .map(Number)
    .filter(isCompiler)

const isCompiler = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--service=")
  } catch {
    // It ended in the meantime.
    return false
  }
}
