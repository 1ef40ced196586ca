/** The reference server: the file to start, `node FILE`. */
import { join } from "node:path"
import { builtProgram } from "./Kept.ts"

export const referenceServer = async (): Promise<string> =>
  join(await builtProgram("weft-server", "examples/standalone/src/main.ts"), "main.mjs")
