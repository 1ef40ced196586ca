/** Every code block of the README and of `docs` does what it shows, or says why it cannot be tried here. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { isAsShown } from "./blocks/Output.ts"
import { type Block, blocksIn, pages, readPage, root } from "./blocks/Page.ts"
import { complaintsIn, programsIn, writePrograms } from "./blocks/Programs.ts"
import { clearAway, type ReferenceServer, startServer } from "./blocks/ReferenceServer.ts"
import { isRun, pageMsMax, runPage } from "./blocks/Shell.ts"

const byPage = new Map(pages().map((page) => [page, blocksIn(page, readPage(page))]))
const all = [...byPage.values()].flat()
const programs = programsIn(all)

/** Languages of blocks that are executed, compiled or read, and `text` for other blocks. */
const languages = ["sh", "ts", "js", "json", "text"]

const nameOf = ({ page, line }: Block): string => `${page}:${line}`

const folder = mkdtempSync(join(tmpdir(), "weft-docs-"))
let server: ReferenceServer
let compiled: Promise<string>
beforeAll(async () => {
  server = await startServer()
  writePrograms(folder, programs, server)
  // In parallel to the commands, which mostly wait.
  compiled = complaintsIn(folder)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

describe("code blocks", () => {
  it("are in a language that is tried, or say why not", () => {
    const untold = all.filter(({ language, note }) => !languages.includes(language) && note?.kind !== "not run")
    expect(untold.map((block) => `${nameOf(block)} ${block.language || "no language"}`)).toEqual([])
    const left = all.flatMap((block) =>
      block.note?.kind === "not run" ? [`  ${nameOf(block)} ${block.note.reason}`] : []
    )
    console.log(`${all.filter((block) => !block.isHidden).length} blocks, of which not run: ${left.length}`)
    for (const line of left) console.log(line)
  })

  it("that another test runs are named by it", () => {
    for (const { page, note } of all) {
      if (note?.kind !== "run by") continue
      expect(existsSync(join(root, note.file)), note.file).toBe(true)
      expect(readFileSync(join(root, note.file), "utf8"), note.file).toContain(page)
    }
  })

  it("are JSON where they say so", () => {
    for (const block of all) {
      if (block.language === "json") expect(() => JSON.parse(block.code), nameOf(block)).not.toThrow()
    }
  })
})

describe("commands and functions of", () => {
  for (const [page, blocks] of byPage) {
    if (!blocks.some(isRun)) continue
    it(page, { timeout: pageMsMax + 10_000 }, async () => {
      const { failure, outputs } = await runPage(blocks, programs, folder, server)
      expect(failure).toBe("")
      for (const [index, block] of blocks.entries()) {
        if (block.note?.kind !== "output") continue
        const before = blocks.slice(0, index).findLast(isRun)
        const printed = outputs.get(before?.line ?? 0) ?? ""
        if (!isAsShown(block.code, printed, block.language)) expect(printed, nameOf(block)).toBe(block.code)
      }
      await clearAway(server)
    })
  }
})

it("programs of all pages compile", { timeout: 240_000 }, async () => {
  expect(programs.length).toBeGreaterThan(0)
  expect(await compiled).toBe("")
})
