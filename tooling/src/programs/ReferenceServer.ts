/** Builds the reference server and returns the path of the file to run with `node FILE`. */
import { join } from "node:path"
import { builtProgram } from "./ProgramCache.ts"

export const referenceServer = async (): Promise<string> =>
  join(await builtProgram("weft-server", "examples/standalone/src/main.ts"), "main.mjs")
