/** The main function of every program: opens it and executes the commands of the suite until `close`. */
import { type Answer, type Command, decodeOptions } from "./Command.ts"
import { Driver } from "./Driver.ts"
import type { JobProgram, ProgramOptions } from "./JobProgram.ts"
import { WorkflowDriver } from "./WorkflowDriver.ts"
import type { WorkflowProgram } from "./WorkflowProgram.ts"

type Program = JobProgram | WorkflowProgram

/** Serves a program: `await serve(async ({ url }) => …)` is its last line. The process exits after `close`. */
export const serve = async (open: (options: ProgramOptions) => Promise<Program>): Promise<void> => {
  const answer = (message: Answer): Promise<void> =>
    new Promise((resolve) => {
      if (process.send === undefined) throw new Error("This program must be started by a suite, with an IPC channel")
      process.send(JSON.stringify(message), () => resolve())
    })
  const fail = async (error: unknown): Promise<never> => {
    await answer({ kind: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    return process.exit(1)
  }
  process.on("unhandledRejection", fail)
  // Exits with the suite.
  process.once("disconnect", () => process.exit(1))
  try {
    const program = await open(decodeOptions(process.argv[2]))
    const driver = "publish" in program ? new Driver(program) : new WorkflowDriver(program)
    process.on("message", async (text) => {
      try {
        const command: Command = JSON.parse(String(text))
        if (command.kind !== "close") return await answer({ kind: "measured", figures: await driver.measure(command) })
        await program.close()
        await answer({ kind: "measured", figures: {} })
        process.exit(0)
      } catch (error) {
        await fail(error)
      }
    })
    await answer({ kind: "ready", settings: program.settings })
  } catch (error) {
    await fail(error)
  }
}
