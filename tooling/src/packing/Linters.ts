/** Runs publint and "are the types wrong" on archives. */
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { root } from "../build/published.ts"
import type { Archive } from "./Archive.ts"
import { listModules } from "./CleanInstall.ts"

const run = promisify(execFile)

/** Number of concurrent checks: CI machines usually have two processors. */
const concurrency = 2

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
  await Promise.all(Array.from({ length: concurrency }, judgeAll))
  return faults
}

const byPublint = async ({ file, manifest }: Archive): Promise<ReadonlyArray<string>> => {
  const bytes = readFileSync(file)
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const { messages } = await publint({ pack: { tarball }, strict: true, level: "warning" })
  return messages.map((message) => `publint: ${formatMessage(message, manifest) ?? message.code}`)
}

/**
 * The packages are ES modules only. Node loads ES modules with `require`, and Node 10 is not supported, so the profile
 * leaves out these two resolutions.
 */
const byTypes = async ({ file, manifest }: Archive): Promise<ReadonlyArray<string>> => {
  // A program has no importable entry.
  if (!Object.hasOwn(manifest.exports, ".")) return []
  // Closed entries have no types on purpose.
  const closed = Object.keys(manifest.exports).filter(
    (name) => !listModules({ manifest }).includes(`${manifest.name}${name.slice(1)}`)
  )
  const excluded = closed.filter((name) => name !== "./package.json").flatMap((name) => ["--exclude-entrypoints", name])
  const args = [file, "--profile", "esm-only", "--format", "ascii", "--no-color", ...excluded]
  try {
    await run(join(root, "node_modules/.bin/attw"), args)
    return []
  } catch (error) {
    const output = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
    return [`attw: ${output}`]
  }
}
