/** Synchronous operations of the file system. The callbacks and promises of `node:fs` derive from them. */
import { Buffer } from "node:buffer"
import path from "node:path"
import { notInFunctions } from "../refuse.ts"
import { Dirent, Stats } from "./Stats.ts"
import {
  addFolder,
  addFolders,
  find,
  get,
  getFile,
  getFolder,
  list,
  move,
  remove,
  systemError,
  toPath,
  touch
} from "./Tree.ts"

type Encoding = BufferEncoding | "buffer" | null | undefined
type WithEncoding = Encoding | { readonly encoding?: Encoding; readonly flag?: string; readonly mode?: number }

const encodingOf = (options: WithEncoding): Encoding =>
  typeof options === "object" && options !== null ? options.encoding : options

const flagOf = (options: WithEncoding, otherwise: string): string =>
  typeof options === "object" && options !== null ? (options.flag ?? otherwise) : otherwise

const toBuffer = (data: unknown, encoding: Encoding): Buffer => {
  if (typeof data === "string") return Buffer.from(data, encoding === "buffer" ? undefined : (encoding ?? undefined))
  if (ArrayBuffer.isView(data)) return Buffer.from(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
  throw Object.assign(new TypeError('The "data" argument must be of type string or an instance of Buffer or a view'), {
    code: "ERR_INVALID_ARG_TYPE"
  })
}

const decode = (bytes: Buffer, encoding: Encoding): Buffer | string =>
  encoding === undefined || encoding === null || encoding === "buffer" ? Buffer.from(bytes) : bytes.toString(encoding)

interface Opened {
  readonly file: string
  readonly isAppending: boolean
  position: number
}

const opened = new Map<number, Opened>()
/** Descriptors below this number are standard streams. */
let lastDescriptor = 2

const getOpened = (fd: number, syscall: string): Opened => {
  const found = opened.get(fd)
  if (found === undefined) throw systemError("EBADF", syscall)
  return found
}

const open = (given: unknown, flags: string | number = "r", _mode?: number): number => {
  const file = toPath(given)
  const flag = String(flags)
  if (flag.includes("x") && find(file) !== undefined) throw systemError("EEXIST", "open", file)
  const node = flag.startsWith("r") || flags === 0 ? get(file, "open") : touch(file, "open")
  if (flag.startsWith("w") && node.kind === "file") node.bytes = Buffer.alloc(0)
  opened.set(++lastDescriptor, { file, isAppending: flag.startsWith("a"), position: 0 })
  return lastDescriptor
}

const close = (fd: number): void => {
  getOpened(fd, "close")
  opened.delete(fd)
}

const read = (
  fd: number,
  target: Uint8Array,
  offset = 0,
  length = target.byteLength - offset,
  position: number | null = null
): number => {
  const entry = getOpened(fd, "read")
  const { bytes } = getFile(entry.file, "read")
  const from = position ?? entry.position
  const part = bytes.subarray(from, from + length)
  target.set(part, offset)
  if (position === null) entry.position += part.length
  return part.length
}

const isNumber = (value: unknown): value is number => typeof value === "number"

const write = (fd: number, data: unknown, ...rest: ReadonlyArray<unknown>): number => {
  const isText = typeof data === "string"
  const whole = toBuffer(data, undefined)
  const [offset = 0, length = whole.length - offset, at] = isText
    ? [0, whole.length, rest.find(isNumber)]
    : rest.filter(isNumber)
  const bytes = whole.subarray(offset, offset + length)
  if (fd === 1 || fd === 2) {
    console[fd === 1 ? "log" : "error"](bytes.toString().trimEnd())
    return bytes.length
  }
  const entry = getOpened(fd, "write")
  const node = getFile(entry.file, "write")
  const position = entry.isAppending ? node.bytes.length : (at ?? entry.position)
  const end = position + bytes.length
  const grown = end > node.bytes.length ? Buffer.concat([node.bytes], end) : node.bytes
  grown.set(bytes, position)
  node.bytes = grown
  node.changed = Date.now()
  if (at === undefined) entry.position = end
  return bytes.length
}

const readFile = (given: unknown, options?: WithEncoding): Buffer | string =>
  decode(getFile(isNumber(given) ? getOpened(given, "read").file : toPath(given), "open").bytes, encodingOf(options))

const writeFile = (given: unknown, data: unknown, options?: WithEncoding): void => {
  if (isNumber(given)) return void write(given, toBuffer(data, encodingOf(options)))
  const file = toPath(given)
  const flag = flagOf(options, "w")
  if (flag.includes("x") && find(file) !== undefined) throw systemError("EEXIST", "open", file)
  const node = touch(file, "open")
  const bytes = toBuffer(data, encodingOf(options))
  node.bytes = flag.startsWith("a") ? Buffer.concat([node.bytes, bytes]) : bytes
  node.changed = Date.now()
}

const appendFile = (given: unknown, data: unknown, options?: WithEncoding): void => {
  const encoding = encodingOf(options)
  writeFile(given, data, { flag: "a", ...(encoding === undefined ? {} : { encoding }) })
}

const mkdir = (given: unknown, options?: number | { readonly recursive?: boolean }): string | undefined => {
  const file = toPath(given)
  if (typeof options === "object" && options.recursive === true) return addFolders(file)
  addFolder(file)
  return undefined
}

interface ListOptions {
  readonly withFileTypes?: boolean
  readonly recursive?: boolean
}

const readdir = (given: unknown, options?: ListOptions | string | null): Array<string> | Array<Dirent> => {
  const folder = toPath(given)
  getFolder(folder, "scandir")
  const { withFileTypes = false, recursive = false } = typeof options === "object" && options !== null ? options : {}
  const names = recursive ? listAll(folder, "") : list(folder)
  if (!withFileTypes) return names
  return names.map((name) => {
    const file = path.join(folder, name)
    return new Dirent(path.basename(name), path.dirname(file), find(file)?.kind === "file")
  })
}

const listAll = (folder: string, prefix: string): Array<string> =>
  list(folder).flatMap((name) => {
    const file = path.join(folder, name)
    return [`${prefix}${name}`, ...(find(file)?.kind === "folder" ? listAll(file, `${prefix}${name}/`) : [])]
  })

const stat = (given: unknown, options?: { readonly throwIfNoEntry?: boolean }): Stats | undefined => {
  const file = toPath(given)
  if (options?.throwIfNoEntry === false && find(file) === undefined) return undefined
  return new Stats(get(file, "stat"))
}

const fstat = (fd: number): Stats => new Stats(get(getOpened(fd, "fstat").file, "fstat"))

const unlink = (given: unknown): void => {
  const file = toPath(given)
  getFile(file, "unlink")
  remove(file)
}

const rmdir = (given: unknown, options?: { readonly recursive?: boolean }): void => {
  const file = toPath(given)
  getFolder(file, "rmdir")
  if (options?.recursive !== true && list(file).length > 0) throw systemError("ENOTEMPTY", "rmdir", file)
  remove(file)
}

const rm = (
  given: unknown,
  { force = false, recursive = false }: { readonly force?: boolean; readonly recursive?: boolean } = {}
): void => {
  const file = toPath(given)
  const node = find(file)
  if (node === undefined) {
    if (force) return
    throw systemError("ENOENT", "rm", file)
  }
  if (node.kind === "folder" && !recursive) throw systemError("EISDIR", "rm", file)
  remove(file)
}

const rename = (from: unknown, to: unknown): void => move(toPath(from), toPath(to))

const copyFile = (from: unknown, to: unknown, mode = 0): void => {
  const target = toPath(to)
  if ((mode & 1) === 1 && find(target) !== undefined) throw systemError("EEXIST", "copyfile", target)
  writeFile(target, getFile(toPath(from), "copyfile").bytes)
}

const cp = (from: unknown, to: unknown, { recursive = false }: { readonly recursive?: boolean } = {}): void => {
  const [source, target] = [toPath(from), toPath(to)]
  if (get(source, "cp").kind === "file") {
    copyFile(source, target)
    return
  }
  if (!recursive) throw systemError("EISDIR", "cp", source)
  addFolders(target)
  for (const name of list(source)) cp(path.join(source, name), path.join(target, name), { recursive })
}

const access = (given: unknown, _mode?: number): void => void get(toPath(given), "access")
const exists = (given: unknown): boolean => find(toPath(given)) !== undefined
const realpath = (given: unknown): string => {
  const file = toPath(given)
  get(file, "realpath")
  return file
}

const mkdtemp = (prefix: string): string => {
  const file = `${toPath(prefix)}${crypto.randomUUID().slice(0, 6)}`
  addFolder(file)
  return file
}

const truncate = (given: unknown, length = 0): void => {
  const node = getFile(isNumber(given) ? getOpened(given, "ftruncate").file : toPath(given), "truncate")
  node.bytes = Buffer.concat([node.bytes], length)
}

const chmod = (given: unknown, mode: number): void => {
  const node = get(toPath(given), "chmod")
  node.mode = (node.mode & ~0o777) | (mode & 0o777)
}

const utimes = (given: unknown, _accessed: unknown, modified: Date | number | string): void => {
  const node = get(toPath(given), "utime")
  node.changed = modified instanceof Date ? modified.getTime() : Number(modified) * 1000
}

/** Owners and the disk do not exist. */
const ignore = (): void => undefined

const refuseLink = (): never => {
  throw notInFunctions("fs.symlink", "copy the file; files of functions are in memory and have no links")
}

export const operations = {
  access,
  appendFile,
  chmod,
  chown: ignore,
  close,
  copyFile,
  cp,
  exists,
  fchmod: ignore,
  fchown: ignore,
  fdatasync: ignore,
  fstat,
  fsync: ignore,
  ftruncate: truncate,
  futimes: ignore,
  lchmod: ignore,
  lchown: ignore,
  link: copyFile,
  lstat: stat,
  lutimes: utimes,
  mkdir,
  mkdtemp,
  open,
  read,
  readFile,
  readdir,
  readlink: refuseLink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink: refuseLink,
  truncate,
  unlink,
  utimes,
  write,
  writeFile
}
