/** The blocks in TypeScript, written out as modules, and what the compiler has to say of all of them at once. */
import { execFile } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Block, root } from "./Page.ts"
import { inPlace, type ReferenceServer } from "./ReferenceServer.ts"

export interface Program {
  readonly block: Block
  /** From the folder of all programs. */
  readonly file: string
  readonly text: string
}

const compilerOptions = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  module: "nodenext",
  target: "es2024",
  lib: ["es2024", "dom", "dom.asynciterable", "esnext.disposable"],
  types: ["node"],
  customConditions: ["weft-source"],
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  skipLibCheck: true,
  noEmit: true
}

/** A name that is safe as a folder's. */
export const folderOf = (page: string): string => page.replace(/^docs\//, "").replace(/[^A-Za-z0-9]+/g, "-")

/** Each block as a module of its own, under the name in its first line (`// src/orders.ts`) if there is one. */
export const programsIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<Program> => {
  const programs: Array<Program> = []
  let before = ""
  for (const block of blocks) {
    if (block.language !== "ts") continue
    if (block.isHidden) {
      before += block.code
      continue
    }
    const [, name = `line-${block.line}.ts`] = /^\/\/ (\S+\.ts)\n/.exec(block.code) ?? []
    if (block.note === null || block.note.kind === "runs") {
      const text = `${before}// ${block.page}:${block.line}\n${block.code}export {}\n`
      programs.push({ block, file: join(folderOf(block.page), name), text })
    }
    before = ""
  }
  return programs
}

/** The folder looks like one of a project that has everything installed. */
export const writePrograms = (folder: string, programs: ReadonlyArray<Program>, server: ReferenceServer): void => {
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*/**/*.ts"] }))
  for (const { file, text } of programs) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), inPlace(text, server))
  }
}

/** Returns the errors of the compiler, without those in sources that the pages import. */
export const complaintsIn = (folder: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const tsc = join(root, "node_modules/.bin/tsc")
    execFile(tsc, ["-p", ".", "--pretty", "false"], { cwd: folder }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== "number") reject(error)
      else resolve(ofThePages(stdout + stderr))
    })
  })

/** A complaint has the file first; lines that explain it are indented. */
const ofThePages = (output: string): string =>
  output
    .split(/\n(?=\S)/)
    .filter((complaint) => !complaint.startsWith(".."))
    .join("\n")
    .trim()
