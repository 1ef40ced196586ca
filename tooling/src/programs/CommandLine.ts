/** Builds the CLI and returns the path of the file to run with `node FILE ARGUMENTS...`. */
import { join } from "node:path"
import { builtProgram } from "./ProgramCache.ts"

export const commandLine = async (): Promise<string> =>
  join(await builtProgram("weft-cli", "packages/cli/src/main.ts"), "main.mjs")
