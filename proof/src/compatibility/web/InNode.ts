/** Runs a test file in a process of Node. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { Answer, fileMs } from "./harness.ts"
import type { TestFile } from "./TestFile.ts"

/**
 * Tests throw errors on purpose that nothing catches; without a window, they would end the process. Functions have no
 * shared memory and no WebAssembly, by design, so their tests count in neither engine.
 */
const driver = `
for (const name of ["WebAssembly", "SharedArrayBuffer", "Atomics"]) delete globalThis[name]
process.on("uncaughtException", () => undefined)
process.on("unhandledRejection", () => undefined)
const { main } = await import("./test.mjs")
const answer = JSON.stringify(await main())
process.stdout.write("\\n" + answer + "\\n", () => process.exit(0))
`

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Answer))

/** Returns the results of a test file, or the reason why the file has no results. */
export const runInNode = async ({ module }: TestFile): Promise<Answer | string> => {
  const folder = mkdtempSync(join(tmpdir(), "weft-web-"))
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "test.mjs"), module)
    writeFileSync(join(folder, "main.mjs"), driver)
    const output = await runProcess(join(folder, "main.mjs"))
    const lines = output.trim().split("\n")
    return lines.at(-1)?.startsWith("{") === true ? decode(lines.at(-1)) : output.slice(-300)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const runProcess = (file: string): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ["--no-warnings", file], { stdio: ["ignore", "pipe", "pipe"], env: {} })
    const chunks: Array<string> = []
    child.stdout.setEncoding("utf8").on("data", (text: string) => chunks.push(text))
    child.stderr.resume()
    const end = setTimeout(() => child.kill("SIGKILL"), 2 * fileMs)
    child.on("close", () => {
      clearTimeout(end)
      resolve(chunks.join(""))
    })
  })
