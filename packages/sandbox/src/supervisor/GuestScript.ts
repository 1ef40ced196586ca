/** The guest layers as one script, whose value is the kernel's `boot`. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { guestEntry } from "../Entries.ts"

/** Returns the script that was built with this file; builds it now if this file is a source. */
export const guestScript = async (): Promise<string> => {
  const file = fileURLToPath(guestEntry)
  return file.endsWith(".ts") ? buildFrom(file) : readFileSync(file, "utf8")
}

const buildFrom = async (file: string): Promise<string> => {
  const [{ build }, { guestBuild }] = await Promise.all([import("esbuild"), import("./GuestBuild.ts")])
  const { outputFiles } = await build({ ...guestBuild, entryPoints: [file], write: false })
  const text = outputFiles[0]?.text
  if (text === undefined) throw new Error(`esbuild produced no output for ${file}`)
  return text
}
