/**
 * A disk of a few MiB for one server: a file system in memory that only its process sees, so that it is gone with it and
 * nobody has to be root where users may have namespaces of their own.
 */
import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { ServerProcess } from "./ServerProcess.ts"

const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]

/** For `Start.through`: the server finds an empty disk at `dir`, with these options of `mount`. */
export const onDisk = (dir: string, size: string, isReadOnly = false): ReadonlyArray<string> => [
  "unshare",
  ...asRoot,
  "--mount",
  "sh",
  "-c",
  `mount -t tmpfs -o size=${size},mode=0700 tmpfs "$0" && if ${isReadOnly}; then mount -o remount,ro "$0"; fi && exec "$@"`,
  dir
]

/** For `Start.through`: the server finds at `dir` what is there, and cannot write it. */
export const readOnly = (dir: string): ReadonlyArray<string> => [
  "unshare",
  ...asRoot,
  "--mount",
  "sh",
  "-c",
  `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`,
  dir
]

/** A path as the server sees it. */
export const seenBy = (server: ServerProcess, path: string): string => `/proc/${server.pid}/root${path}`

/** Writes until there is no room; gives how to take it away again. */
export const fill = (server: ServerProcess, dir: string): (() => void) => {
  const path = join(seenBy(server, dir), "filler")
  const file = openSync(path, constants.O_CREAT | constants.O_WRONLY, 0o600)
  try {
    for (const size of [65_536, 4_096]) writeAll(file, Buffer.alloc(size, 1))
  } finally {
    closeSync(file)
  }
  return () => rmSync(path)
}

const writeAll = (file: number, bytes: Buffer): void => {
  try {
    for (;;) writeSync(file, bytes)
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error
  }
}
