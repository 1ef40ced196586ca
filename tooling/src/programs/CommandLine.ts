/** The command line: the file to start, `node FILE ARGUMENTS...`. */
import { join } from "node:path"
import { builtProgram } from "./Kept.ts"

export const commandLine = async (): Promise<string> =>
  join(await builtProgram("weft-cli", "packages/cli/src/main.ts"), "main.mjs")
