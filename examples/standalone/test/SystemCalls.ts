/** What a server asks of the system, in order, as strace tells it: what was made durable, and when who asked was answered. */
import { readFileSync } from "node:fs"
import { strace } from "@weft/tooling/services"

export type SystemCall =
  /** Its bytes are on the disk, or, of a folder, its names. */
  | { readonly kind: "synced"; readonly path: string }
  | { readonly kind: "renamed"; readonly from: string; readonly to: string }
  | { readonly kind: "answered"; readonly status: number }

/** For `Start.through`: tells `file` of the server's system calls. */
export const tracedTo = (file: string): ReadonlyArray<string> => {
  strace()
  const calls = "fsync,fdatasync,rename,renameat,renameat2,write,writev,sendto,sendmsg"
  return ["strace", "-f", "-y", "-s", "512", "-e", `trace=${calls}`, "-e", "signal=none", "-o", file]
}

/** In the order of their ends; answers in that of their beginnings. */
export const systemCalls = (file: string): ReadonlyArray<SystemCall> => {
  const unfinished = new Map<string, string>()
  const calls: Array<SystemCall> = []
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, thread = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const answer = /^(?:write|writev|sendto|sendmsg)\(\d+<(?:socket|TCP).*?HTTP\/1\.1 (\d{3})/.exec(rest)
    if (answer !== null) calls.push({ kind: "answered", status: Number(answer[1]) })
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
