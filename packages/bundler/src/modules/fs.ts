/** `node:fs`: files in the memory of the isolate. */
import promises from "node:fs/promises"
import { constants } from "unenv/node/fs"
import { operations } from "./fs/operations.ts"
import { Dirent, Stats } from "./fs/Stats.ts"
import { createReadStream, createWriteStream, ReadStream, WriteStream } from "./fs/streams.ts"
import { refuse } from "./refuse.ts"

/** Returns the form of an operation that calls back. */
const withCallback =
  (operation: (...given: Array<never>) => unknown) =>
  (...given: ReadonlyArray<unknown>): void => {
    const done = given.at(-1)
    if (typeof done !== "function") throw new TypeError('The "cb" argument must be of type function')
    queueMicrotask(() => {
      let result: unknown
      try {
        result = Reflect.apply(operation, undefined, given.slice(0, -1))
      } catch (error) {
        done(error)
        return
      }
      done(null, result)
    })
  }

export const accessSync = operations.access
export const access = withCallback(operations.access)
export const appendFileSync = operations.appendFile
export const appendFile = withCallback(operations.appendFile)
export const chmodSync = operations.chmod
export const chmod = withCallback(operations.chmod)
export const chownSync = operations.chown
export const chown = withCallback(operations.chown)
export const closeSync = operations.close
export const close = withCallback(operations.close)
export const copyFileSync = operations.copyFile
export const copyFile = withCallback(operations.copyFile)
export const cpSync = operations.cp
export const cp = withCallback(operations.cp)
export const fchmodSync = operations.fchmod
export const fchmod = withCallback(operations.fchmod)
export const fchownSync = operations.fchown
export const fchown = withCallback(operations.fchown)
export const fdatasyncSync = operations.fdatasync
export const fdatasync = withCallback(operations.fdatasync)
export const fstatSync = operations.fstat
export const fstat = withCallback(operations.fstat)
export const fsyncSync = operations.fsync
export const fsync = withCallback(operations.fsync)
export const ftruncateSync = operations.ftruncate
export const ftruncate = withCallback(operations.ftruncate)
export const futimesSync = operations.futimes
export const futimes = withCallback(operations.futimes)
export const lchmodSync = operations.lchmod
export const lchmod = withCallback(operations.lchmod)
export const lchownSync = operations.lchown
export const lchown = withCallback(operations.lchown)
export const linkSync = operations.link
export const link = withCallback(operations.link)
export const lstatSync = operations.lstat
export const lstat = withCallback(operations.lstat)
export const lutimesSync = operations.lutimes
export const lutimes = withCallback(operations.lutimes)
export const mkdirSync = operations.mkdir
export const mkdir = withCallback(operations.mkdir)
export const mkdtempSync = operations.mkdtemp
export const mkdtemp = withCallback(operations.mkdtemp)
export const openSync = operations.open
export const open = withCallback(operations.open)
export const readFileSync = operations.readFile
export const readFile = withCallback(operations.readFile)
export const readdirSync = operations.readdir
export const readdir = withCallback(operations.readdir)
export const readlinkSync = operations.readlink
export const readlink = withCallback(operations.readlink)
export const realpathSync = operations.realpath
export const realpath = withCallback(operations.realpath)
export const renameSync = operations.rename
export const rename = withCallback(operations.rename)
export const rmSync = operations.rm
export const rm = withCallback(operations.rm)
export const rmdirSync = operations.rmdir
export const rmdir = withCallback(operations.rmdir)
export const statSync = operations.stat
export const stat = withCallback(operations.stat)
export const symlinkSync = operations.symlink
export const symlink = withCallback(operations.symlink)
export const truncateSync = operations.truncate
export const truncate = withCallback(operations.truncate)
export const unlinkSync = operations.unlink
export const unlink = withCallback(operations.unlink)
export const utimesSync = operations.utimes
export const utimes = withCallback(operations.utimes)
export const writeFileSync = operations.writeFile
export const writeFile = withCallback(operations.writeFile)

export const existsSync = operations.exists
export const exists = (path: unknown, done: (exists: boolean) => void): void =>
  queueMicrotask(() => done(operations.exists(path)))
export const readSync = operations.read
export const writeSync = operations.write

const transfer =
  (operation: (...given: Array<never>) => number) =>
  (fd: number, data: unknown, ...rest: ReadonlyArray<unknown>): void => {
    const done = rest.at(-1)
    withCallback(operation)(fd, data, ...rest.slice(0, -1), (error: unknown, bytes?: number) => {
      if (typeof done === "function") Reflect.apply(done, undefined, [error, bytes, data])
    })
  }

export const read = transfer(operations.read)
export const write = transfer(operations.write)
export const watch = refuse("fs.watch")
export const watchFile = (): void => undefined
export const unwatchFile = (): void => undefined
export const Dir = refuse("fs.Dir")
export const Utf8Stream = refuse("fs.Utf8Stream")
export const _toUnixTimestamp = refuse("fs._toUnixTimestamp")
export const glob = refuse("fs.glob")
export const globSync = refuse("fs.globSync")
export const mkdtempDisposableSync = refuse("fs.mkdtempDisposableSync")
export const openAsBlob = refuse("fs.openAsBlob")
export const opendir = refuse("fs.opendir", "use `readdir`")
export const opendirSync = refuse("fs.opendirSync", "use `readdirSync`")
export const readv = refuse("fs.readv")
export const readvSync = refuse("fs.readvSync")
export const writev = refuse("fs.writev")
export const writevSync = refuse("fs.writevSync")
export const statfs = refuse("fs.statfs")
export const statfsSync = refuse("fs.statfsSync")
Object.assign(realpath, { native: realpath })
Object.assign(realpathSync, { native: realpathSync })

export {
  constants,
  createReadStream,
  createWriteStream,
  Dirent,
  promises,
  ReadStream,
  ReadStream as FileReadStream,
  Stats,
  WriteStream,
  WriteStream as FileWriteStream
}

import * as all from "./fs.ts"
export default /* @__PURE__ */ Object.assign({}, all, constants)
