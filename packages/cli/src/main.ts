#!/usr/bin/env node
/** The program `weft`. The compile cache makes short commands about a third faster. */
import { enableCompileCache } from "node:module"

// By default Node.js opens its debugger on this signal, which executes any code without a credential.
process.on("SIGUSR1", () => undefined)
enableCompileCache()
await import("./cli.ts")
