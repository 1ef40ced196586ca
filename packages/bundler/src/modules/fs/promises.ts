/** `node:fs/promises`: files in the memory of the isolate. */
import { constants } from "unenv/node/fs"
import { refuse } from "../refuse.ts"
import { FileHandle } from "./FileHandle.ts"
import { operations } from "./operations.ts"

const later =
  <Given extends ReadonlyArray<unknown>, A>(operation: (...given: Given) => A) =>
  async (...given: Given): Promise<A> =>
    operation(...given)

export const access = later(operations.access)
export const appendFile = later(operations.appendFile)
export const chmod = later(operations.chmod)
export const chown = later(operations.chown)
export const copyFile = later(operations.copyFile)
export const cp = later(operations.cp)
export const lchmod = later(operations.lchmod)
export const lchown = later(operations.lchown)
export const link = later(operations.link)
export const lstat = later(operations.lstat)
export const lutimes = later(operations.lutimes)
export const mkdir = later(operations.mkdir)
export const mkdtemp = later(operations.mkdtemp)
export const open = async (...given: Parameters<typeof operations.open>): Promise<FileHandle> =>
  new FileHandle(operations.open(...given))
export const readFile = later(operations.readFile)
export const readdir = later(operations.readdir)
export const readlink = later(operations.readlink)
export const realpath = later(operations.realpath)
export const rename = later(operations.rename)
export const rm = later(operations.rm)
export const rmdir = later(operations.rmdir)
export const stat = later(operations.stat)
export const symlink = later(operations.symlink)
export const truncate = later(operations.truncate)
export const unlink = later(operations.unlink)
export const utimes = later(operations.utimes)
export const writeFile = later(operations.writeFile)
export const glob = refuse("fs.glob")
export const mkdtempDisposable = refuse("fs.mkdtempDisposable")
export const opendir = refuse("fs.opendir", "use `readdir`")
export const statfs = refuse("fs.statfs")
export const watch = refuse("fs.watch")
export { constants }

import * as all from "./promises.ts"
export default /* @__PURE__ */ Object.assign({}, all)
