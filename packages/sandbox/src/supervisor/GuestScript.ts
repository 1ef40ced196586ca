/** The scripts that run in an isolate before its bundle. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { BuildOptions } from "esbuild"
import { guestEntry, optionalEntries, sessionEntry } from "../Entries.ts"
import type { OptionalScript } from "../protocol/OptionalNames.ts"

export interface GuestScripts {
  /** The guest layers; its value is the kernel's `boot`. */
  readonly guest: string
  /** Web APIs that few bundles use; the value of each is a function of the platform's modules that installs them. */
  readonly optional: Readonly<Record<OptionalScript, string>>
}

/** Reads the scripts that were built with this file; builds them now if this file is a source. */
export const readGuestScripts = async (): Promise<GuestScripts> => {
  const { optional, encodings } = optionalEntries
  if (!guestEntry.pathname.endsWith(".ts")) {
    return { guest: read(guestEntry), optional: { optional: read(optional), encodings: read(encodings) } }
  }
  const { guestBuild, optionalBuilds } = await import("./GuestBuild.ts")
  return {
    guest: await buildFrom(guestEntry, guestBuild),
    optional: {
      optional: await buildFrom(optional, optionalBuilds.optional),
      encodings: await buildFrom(encodings, optionalBuilds.encodings)
    }
  }
}

/** Reads the program of sessions, as `readGuestScripts` does. */
export const readSessionProgram = async (): Promise<string> => {
  if (!sessionEntry.pathname.endsWith(".ts")) return read(sessionEntry)
  const { sessionBuild } = await import("./GuestBuild.ts")
  return buildFrom(sessionEntry, sessionBuild)
}

const read = (file: URL): string => readFileSync(file, "utf8")

const buildFrom = async (entry: URL, options: BuildOptions): Promise<string> => {
  const { build } = await import("esbuild")
  const file = fileURLToPath(entry)
  const { outputFiles } = await build({ ...options, entryPoints: [file], write: false })
  const text = outputFiles?.[0]?.text
  if (text === undefined) throw new Error(`esbuild produced no output for ${file}`)
  return text
}
