/** `node:path`, by the package `path-browserify`: Node's own code for POSIX paths. */
import path from "path-browserify"
import { refuse } from "./refuse.ts"

export const { basename, delimiter, dirname, extname, format, isAbsolute, join, normalize, parse, relative, resolve } =
  path
export const { sep } = path
export const toNamespacedPath = (name: string): string => name
export const _makeLong = toNamespacedPath
export const matchesGlob = refuse("path.matchesGlob")
export const posix = path
export const win32 = path
Object.assign(path, { _makeLong, matchesGlob, toNamespacedPath, posix: path, win32: path })
export default path
