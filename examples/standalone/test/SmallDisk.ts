/**
 * A small disk for one server: a tmpfs in the mount namespace of its process. It disappears with the process, and needs
 * no root where unprivileged users may create namespaces.
 */
import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { ServerProcess } from "./ServerProcess.ts"

const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]

/** Returns a wrapper for `Start.through` that mounts an empty disk at `dir`. */
export const onDisk = (dir: string, size: string, isReadOnly = false): ReadonlyArray<string> => [
  "unshare",
  ...asRoot,
  "--mount",
  "sh",
  "-c",
  `mount -t tmpfs -o size=${size},mode=0700 tmpfs "$0" && if ${isReadOnly}; then mount -o remount,ro "$0"; fi && exec "$@"`,
  dir
]

/** Returns a wrapper for `Start.through` that mounts the existing folder `dir` read-only. */
export const readOnly = (dir: string): ReadonlyArray<string> => [
  "unshare",
  ...asRoot,
  "--mount",
  "sh",
  "-c",
  `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`,
  dir
]

/** Returns a path within the mount namespace of the server. */
export const pathWithin = (server: ServerProcess, path: string): string => `/proc/${server.pid}/root${path}`

/** Fills the disk. Returns a function that frees the space. */
export const fill = (server: ServerProcess, dir: string): (() => void) => {
  const path = join(pathWithin(server, dir), "filler")
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
