/**
 * The esbuild plugin for ES modules of packages that call `require`, which they make with `createRequire(import.meta.url)`.
 * Their calls become calls of the global `require`, whose modules esbuild includes.
 */
import { readFile } from "node:fs/promises"
import type { Plugin } from "esbuild"
import { anyOf } from "./Filter.ts"

const declaration =
  /(?:const|let|var)\s+([\w$]+)\s*=\s*(?:[\w$]+\.)?createRequire(?:\$?\d*)\s*\(\s*import\.meta\.(?:url|filename)\s*\)\s*;?/

/** `files` are absolute paths of the modules that import `node:module`. */
export const createRequirePlugin = (files: ReadonlyArray<string>): Plugin => ({
  name: "weft-create-require",
  setup: (build) => {
    if (files.length === 0) return
    build.onLoad({ filter: anyOf(files) }, async ({ path }) => rewrite(await readFile(path, "utf8")))
  }
})

const rewrite = (code: string) => {
  const name = declaration.exec(code)?.[1]
  if (name === undefined) return undefined
  const calls = new RegExp(`(?<![\\w$.])${name.replaceAll("$", "\\$")}(?=\\s*\\()`, "g")
  // The lines stay where they are, so that stacks are right.
  const contents = code.replace(declaration, (text) => text.replace(/[^\n]/g, " ")).replace(calls, "require")
  return { contents, loader: "jsx" as const }
}
