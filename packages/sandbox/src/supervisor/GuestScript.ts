/** The scripts that run in an isolate before its bundle. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { BuildOptions } from "esbuild"
import { guestEntry, optionalEntry } from "../Entries.ts"

export interface GuestScripts {
  /** The guest layers; its value is the kernel's `boot`. */
  readonly guest: string
  /** Web APIs that few bundles use; its value is a function of the platform's modules that installs them. */
  readonly optional: string
}

/** Reads the scripts that were built with this file; builds them now if this file is a source. */
export const readGuestScripts = async (): Promise<GuestScripts> => {
  const [guest, optional] = [fileURLToPath(guestEntry), fileURLToPath(optionalEntry)]
  if (!guest.endsWith(".ts")) return { guest: readFileSync(guest, "utf8"), optional: readFileSync(optional, "utf8") }
  const { guestBuild, optionalBuild } = await import("./GuestBuild.ts")
  return { guest: await buildFrom(guest, guestBuild), optional: await buildFrom(optional, optionalBuild) }
}

const buildFrom = async (file: string, options: BuildOptions): Promise<string> => {
  const { build } = await import("esbuild")
  const { outputFiles } = await build({ ...options, entryPoints: [file], write: false })
  const text = outputFiles?.[0]?.text
  if (text === undefined) throw new Error(`esbuild produced no output for ${file}`)
  return text
}
