/** The guest layers as one script, whose value is the kernel's `boot`. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { guestEntry } from "../Entries.ts"

/** The script that was built with this file; made now where this file is a source. */
export const guestScript = async (): Promise<string> => {
  const file = fileURLToPath(guestEntry)
  return file.endsWith(".ts") ? made(file) : readFileSync(file, "utf8")
}

const made = async (file: string): Promise<string> => {
  const [{ build }, { guestBuild }] = await Promise.all([import("esbuild"), import("./GuestBuild.ts")])
  const { outputFiles } = await build({ ...guestBuild, entryPoints: [file], write: false })
  const text = outputFiles[0]?.text
  if (text === undefined) throw new Error("the guest layers bundle to nothing")
  return text
}
