/** A file system in the memory of the isolate. It is empty at the start, and ends with the isolate. */
import { Buffer } from "node:buffer"
import path from "node:path"
import { fileURLToPath } from "node:url"

export interface FileNode {
  readonly kind: "file"
  bytes: Buffer
  readonly ino: number
  readonly born: number
  changed: number
  mode: number
}

export interface FolderNode {
  readonly kind: "folder"
  readonly ino: number
  readonly born: number
  changed: number
  mode: number
}

export type Node = FileNode | FolderNode

const messages = {
  EACCES: "permission denied",
  EBADF: "bad file descriptor",
  EEXIST: "file already exists",
  EISDIR: "illegal operation on a directory",
  ENOENT: "no such file or directory",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty"
}

const numbers: Readonly<Record<keyof typeof messages, number>> = {
  EACCES: -13,
  EBADF: -9,
  EEXIST: -17,
  EISDIR: -21,
  ENOENT: -2,
  ENOTDIR: -20,
  ENOTEMPTY: -39
}

export const systemError = (code: keyof typeof messages, syscall: string, file?: string): Error =>
  Object.assign(new Error(`${code}: ${messages[code]}, ${syscall}${file === undefined ? "" : ` '${file}'`}`), {
    code,
    errno: numbers[code],
    syscall,
    ...(file === undefined ? {} : { path: file })
  })

const nodes = new Map<string, Node>()
let lastIno = 0

const makeFolder = (): FolderNode => ({
  kind: "folder",
  ino: ++lastIno,
  born: Date.now(),
  changed: Date.now(),
  mode: 0o40755
})

for (const name of ["/", "/tmp"]) nodes.set(name, makeFolder())

/** Accepts a path, as text or bytes, or a file URL. */
export const toPath = (given: unknown): string => {
  if (given instanceof URL) return path.resolve("/", fileURLToPath(given))
  if (typeof given === "string") return path.resolve("/", given)
  if (given instanceof Uint8Array) return path.resolve("/", new TextDecoder().decode(given))
  throw Object.assign(new TypeError('The "path" argument must be of type string or an instance of Buffer or URL'), {
    code: "ERR_INVALID_ARG_TYPE"
  })
}

export const find = (file: string): Node | undefined => nodes.get(file)

export const get = (file: string, syscall: string): Node => {
  const node = nodes.get(file)
  if (node === undefined) throw systemError("ENOENT", syscall, file)
  return node
}

export const getFile = (file: string, syscall: string): FileNode => {
  const node = get(file, syscall)
  if (node.kind === "folder") throw systemError("EISDIR", syscall, file)
  return node
}

export const getFolder = (file: string, syscall: string): FolderNode => {
  const node = get(file, syscall)
  if (node.kind === "file") throw systemError("ENOTDIR", syscall, file)
  return node
}

/** Returns the file; creates it if it does not exist. */
export const touch = (file: string, syscall: string): FileNode => {
  if (nodes.has(file)) return getFile(file, syscall)
  getFolder(path.dirname(file), syscall)
  const node: FileNode = {
    kind: "file",
    bytes: Buffer.alloc(0),
    ino: ++lastIno,
    born: Date.now(),
    changed: Date.now(),
    mode: 0o100644
  }
  nodes.set(file, node)
  return node
}

export const addFolder = (file: string): void => {
  if (nodes.has(file)) throw systemError("EEXIST", "mkdir", file)
  getFolder(path.dirname(file), "mkdir")
  nodes.set(file, makeFolder())
}

/** Creates all missing folders. Returns the first that it created. */
export const addFolders = (file: string): string | undefined => {
  if (nodes.has(file)) {
    if (nodes.get(file)?.kind === "file") throw systemError("EEXIST", "mkdir", file)
    return undefined
  }
  const first = addFolders(path.dirname(file))
  nodes.set(file, makeFolder())
  return first ?? file
}

const below = (folder: string): string => (folder === "/" ? "/" : `${folder}/`)

/** Returns the names in a folder, sorted. */
export const list = (folder: string): Array<string> => {
  const start = below(folder)
  return [...nodes.keys()]
    .filter((file) => file.startsWith(start) && file !== "/" && !file.slice(start.length).includes("/"))
    .map((file) => file.slice(start.length))
    .sort()
}

export const remove = (file: string): void => {
  const start = below(file)
  for (const each of [...nodes.keys()]) if (each === file || each.startsWith(start)) nodes.delete(each)
}

export const move = (from: string, to: string): void => {
  const moved = get(from, "rename")
  getFolder(path.dirname(to), "rename")
  const start = below(from)
  const inside = [...nodes].filter(([file]) => file.startsWith(start))
  remove(from)
  nodes.set(to, moved)
  for (const [file, node] of inside) nodes.set(`${to}/${file.slice(start.length)}`, node)
}
