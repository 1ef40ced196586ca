/** Facts about files and entries of folders. */
import type { Node } from "./Tree.ts"

export class Stats {
  readonly dev = 1
  readonly nlink = 1
  readonly uid = 1000
  readonly gid = 1000
  readonly rdev = 0
  readonly blksize = 4096
  readonly blocks: number
  readonly ino: number
  readonly mode: number
  readonly size: number
  readonly atimeMs: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly birthtimeMs: number
  readonly #isFile: boolean

  constructor(node: Node) {
    this.#isFile = node.kind === "file"
    this.ino = node.ino
    this.mode = node.mode
    this.size = node.kind === "file" ? node.bytes.length : 0
    this.blocks = Math.ceil(this.size / 512)
    this.atimeMs = node.changed
    this.mtimeMs = node.changed
    this.ctimeMs = node.changed
    this.birthtimeMs = node.born
  }

  get atime(): Date {
    return new Date(this.atimeMs)
  }
  get mtime(): Date {
    return new Date(this.mtimeMs)
  }
  get ctime(): Date {
    return new Date(this.ctimeMs)
  }
  get birthtime(): Date {
    return new Date(this.birthtimeMs)
  }
  isFile(): boolean {
    return this.#isFile
  }
  isDirectory(): boolean {
    return !this.#isFile
  }
  isSymbolicLink(): boolean {
    return false
  }
  isSocket(): boolean {
    return false
  }
  isFIFO(): boolean {
    return false
  }
  isBlockDevice(): boolean {
    return false
  }
  isCharacterDevice(): boolean {
    return false
  }
}

export class Dirent {
  readonly name: string
  readonly parentPath: string
  readonly path: string
  readonly #isFile: boolean

  constructor(name: string, parentPath: string, isFile: boolean) {
    this.name = name
    this.parentPath = parentPath
    this.path = parentPath
    this.#isFile = isFile
  }

  isFile(): boolean {
    return this.#isFile
  }
  isDirectory(): boolean {
    return !this.#isFile
  }
  isSymbolicLink(): boolean {
    return false
  }
}
