/** What others say of how a package is packed: publint, and "are the types wrong". */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { root } from "../build/published.ts"
import type { Archive } from "./Archive.ts"

const run = promisify(execFile)

/** As many programs as there are usually processors. */
const atOnce = 2

export const faultsByLinters = async (archives: ReadonlyArray<Archive>): Promise<ReadonlyArray<string>> => {
  const left = [...archives]
  const faults: Array<string> = []
  const judgeAll = async (): Promise<void> => {
    for (let archive = left.shift(); archive !== undefined; archive = left.shift()) {
      const { name } = archive.manifest
      const found = [...(await byPublint(archive)), ...(await byTypes(archive))]
      faults.push(...found.map((fault) => `${name}: ${fault}`))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, judgeAll))
  return faults
}

const byPublint = async ({ file, manifest }: Archive): Promise<ReadonlyArray<string>> => {
  const bytes = readFileSync(file)
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const { messages } = await publint({ pack: { tarball }, strict: true, level: "warning" })
  return messages.map((message) => `publint: ${formatMessage(message, manifest) ?? message.code}`)
}

/**
 * The packages are ES modules only: `require` gets them from Node as such, and Node 10 is none of theirs. The profile
 * leaves out just these two resolutions.
 */
const byTypes = async ({ file, manifest }: Archive): Promise<ReadonlyArray<string>> => {
  // Nobody imports a program.
  if (!Object.hasOwn(manifest.exports, ".")) return []
  const asked = [file, "--profile", "esm-only", "--format", "ascii", "--no-color"]
  try {
    await run(join(root, "node_modules/.bin/attw"), asked)
    return []
  } catch (error) {
    const told = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
    return [`attw: ${told}`]
  }
}
