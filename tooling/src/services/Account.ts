/** Whom servers run as that refuse to run as root. */
import { readFileSync } from "node:fs"

/** For `spawn`; empty where this process is nobody special itself. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

/** The first of these users that this machine has, when this process is root's. */
export const unprivileged = (...names: ReadonlyArray<string>): User => {
  if (process.getuid?.() !== 0) return {}
  const lines = readFileSync("/etc/passwd", "utf8").split("\n")
  for (const name of names) {
    const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(`None of the users ${names.join(", ")} exists here, and root may not run this server`)
}
