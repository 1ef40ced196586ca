/** Unprivileged users for servers that refuse to run as root. */
import { readFileSync } from "node:fs"

/** Options of `spawn`; empty if this process does not run as root. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

/** Returns the first of the users that exists, or an empty object if this process does not run as root. */
export const unprivileged = (...names: ReadonlyArray<string>): User => {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync("/etc/passwd", "utf8").split("\n")
  for (const name of names) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    `This server cannot run as root, and none of the users ${names.join(", ")} exists: create one of them`
  )
}
