/** What others say of how a package is packed: publint, and "are the types wrong". */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { root } from "../build/published.ts"
import type { Archive } from "./Archive.ts"

export const faultsByLinters = async (archive: Archive): Promise<ReadonlyArray<string>> =>
  [...(await byPublint(archive)), ...byTypes(archive)].map((fault) => `${archive.manifest.name}: ${fault}`)

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
const byTypes = ({ file }: Archive): ReadonlyArray<string> => {
  try {
    execFileSync(
      join(root, "node_modules/.bin/attw"),
      [file, "--profile", "esm-only", "--format", "ascii", "--no-color"],
      {
        encoding: "utf8",
        stdio: "pipe"
      }
    )
    return []
  } catch (error) {
    const told = error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
    return [`attw: ${told}`]
  }
}
