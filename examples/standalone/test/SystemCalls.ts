/** The system calls of a server in order, recorded by strace: syncs to disk, renames and HTTP responses. */
import { readFileSync } from "node:fs"
import { strace } from "@weft/tooling/services"

export type SystemCall =
  /** The bytes of a file, or the entries of a folder, are on disk. */
  | { readonly kind: "synced"; readonly path: string }
  | { readonly kind: "renamed"; readonly from: string; readonly to: string }
  | { readonly kind: "responded"; readonly status: number }

/** Returns a wrapper for `Start.through` that records the server's system calls in `file`. */
export const tracedTo = (file: string): ReadonlyArray<string> => {
  strace()
  const calls = "fsync,fdatasync,rename,renameat,renameat2,write,writev,sendto,sendmsg"
  return ["strace", "-f", "-y", "-s", "512", "-e", `trace=${calls}`, "-e", "signal=none", "-o", file]
}

/** Reads the recorded calls in the order of their ends; responses in the order of their starts. */
export const systemCalls = (file: string): ReadonlyArray<SystemCall> => {
  const unfinished = new Map<string, string>()
  const calls: Array<SystemCall> = []
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, thread = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const answer = /^(?:write|writev|sendto|sendmsg)\(\d+<(?:socket|TCP).*?HTTP\/1\.1 (\d{3})/.exec(rest)
    if (answer !== null) calls.push({ kind: "responded", status: Number(answer[1]) })
    const [, begun] = /^(.*?) ?<unfinished \.\.\.>$/.exec(rest) ?? []
    if (begun !== undefined) unfinished.set(thread, begun)
    const [, resumed] = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest) ?? []
    const whole = resumed === undefined ? rest : `${unfinished.get(thread)}${resumed}`
    const [, path] = /^(?:fsync|fdatasync)\(\d+<([^>]*)>\)\s+= 0/.exec(whole) ?? []
    if (path !== undefined) calls.push({ kind: "synced", path })
    const [, from, to] =
      /^rename\w*\((?:AT_FDCWD[^,]*, )?"([^"]*)", (?:AT_FDCWD[^,]*, )?"([^"]*)".*= 0/.exec(whole) ?? []
    if (from !== undefined && to !== undefined) calls.push({ kind: "renamed", from, to })
  }
  return calls
}
