/** The edge: arguments, exit code and the world. */

import { runMain } from "@effect/platform-node/NodeRuntime"
import { layer } from "@effect/platform-node/NodeServices"
import { Effect, Runtime } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import manifest from "../package.json" with { type: "json" }
import { CompletionsFlag } from "./completion/Completions.ts"
import { presenterOf, reporting } from "./Report.ts"
import { root } from "./Root.ts"

const argv = process.argv.slice(2)
/** Before arguments are understood: what is said about wrong ones depends on it. */
const json = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json")

// Whoever reads stdout may have seen enough, as `head` has.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0)
  throw error
})

/** The exit code of what was interrupted, unless the command says otherwise. */
const interrupted = 130

Command.runWith(root, { version: manifest.version })(argv).pipe(
  Effect.provideService(CliOutput.Presenter, presenterOf(json)),
  Effect.provideService(
    CliConfig.CliConfig,
    CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, CompletionsFlag] })
  ),
  (command) => reporting(command, json),
  Effect.provide(layer),
  runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      Runtime.defaultTeardown(exit, (code) => onExit(code === interrupted ? Number(process.exitCode ?? code) : code))
  })
)
