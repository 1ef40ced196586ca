/** `node:module`: a build contains all its modules, so nothing can be loaded by name. */
import { refuse } from "./refuse.ts"

const hint = "the bundler includes imports and calls of `require` with a constant name"

export const createRequire = () =>
  Object.assign(
    (name: string): never => {
      throw Object.assign(new Error(`Cannot find module '${name}': ${hint}`), { code: "MODULE_NOT_FOUND" })
    },
    { resolve: refuse("require.resolve", hint), cache: {}, extensions: {}, main: undefined }
  )
export const builtinModules: ReadonlyArray<string> = []
export const isBuiltin = (): boolean => false
export const findPackageJSON = (): undefined => undefined
export const register = (): void => undefined
export const syncBuiltinESMExports = (): void => undefined
export const enableCompileCache = () => ({ status: 3 })
export const flushCompileCache = (): void => undefined
export const getCompileCacheDir = (): undefined => undefined
export const findSourceMap = (): undefined => undefined
export const globalPaths: ReadonlyArray<string> = []
export const getSourceMapsSupport = () => ({ enabled: false, nodeModules: false, generatedCode: false })
export const setSourceMapsSupport = (): void => undefined
export const SourceMap = refuse("module.SourceMap")
export const registerHooks = refuse("module.registerHooks", hint)
export const runMain = refuse("module.runMain", hint)
export const stripTypeScriptTypes = refuse("module.stripTypeScriptTypes")
export const constants = { compileCacheStatus: { FAILED: 0, ENABLED: 1, ALREADY_ENABLED: 2, DISABLED: 3 } }

/** The class of Node's loader, which tools extend or replace. */
export const Module = Object.assign(refuse("module.Module", hint), {
  _extensions: {},
  _cache: {},
  _load: refuse("module._load", hint),
  _resolveFilename: refuse("module._resolveFilename", hint),
  builtinModules,
  createRequire,
  isBuiltin
})
Object.assign(Module, { Module })
export const { _cache, _extensions, _load, _resolveFilename } = Module
export default Module
