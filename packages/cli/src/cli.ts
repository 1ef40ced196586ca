/** Runs the command line: arguments, services of the platform, exit code. */

import { runMain } from "@effect/platform-node/NodeRuntime"
import { layer } from "@effect/platform-node/NodeServices"
import { Effect, Runtime } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import manifest from "../package.json" with { type: "json" }
import { CompletionsFlag } from "./completion/Completions.ts"
import { makePresenter, reportFailures } from "./Report.ts"
import { root } from "./Root.ts"

const argv = process.argv.slice(2)
/** Read before the arguments are parsed, because it selects the format of usage errors. */
const json = argv.slice(0, argv.includes("--") ? argv.indexOf("--") : undefined).includes("--json")

// A reader of stdout may close the pipe early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0)
  // The terminal is closed: SIGHUP ends the command.
  if (error.code !== "EIO") throw error
})

// A terminal that closes sends SIGHUP, often twice. Commands then end as after SIGTERM: a server drains first.
process.once("SIGHUP", () => {
  process.on("SIGHUP", () => undefined)
  process.emit("SIGTERM", "SIGTERM")
})

/** Exit code after an interrupt, unless the command sets another. */
const interrupted = 130

Command.runWith(root, { version: manifest.version })(argv).pipe(
  Effect.provideService(CliOutput.Presenter, makePresenter(json)),
  Effect.provideService(
    CliConfig.CliConfig,
    CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, CompletionsFlag] })
  ),
  (command) => reportFailures(command, json),
  Effect.provide(layer),
  runMain({
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      Runtime.defaultTeardown(exit, (code) => onExit(code === interrupted ? Number(process.exitCode ?? code) : code))
  })
)
