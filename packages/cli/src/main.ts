#!/usr/bin/env node
/**
 * The program `weft`. The compile cache makes short commands about a third faster.
 *
 * Earlier releases of Node.js than the required one also load this file, so it imports no name that they lack.
 */
import module from "node:module"
import { isTooOld, nodeMajorMin } from "./NodeVersion.ts"

// By default Node.js opens its debugger on this signal, which executes any code without a credential.
process.on("SIGUSR1", () => undefined)
if (isTooOld(process.versions.node)) {
  process.stderr.write(
    `weft: needs Node.js ${nodeMajorMin} or later, and this is ${process.versions.node}: install it from https://nodejs.org\n`
  )
  process.exitCode = 1
} else {
  module.enableCompileCache()
  await import("./cli.ts")
}
