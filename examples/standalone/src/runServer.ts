/** Runs the server process: starts the server, prints its address, and shuts it down after a signal. */
import { flushCompileCache } from "node:module"
import { openServer } from "./Server.ts"
import { readSettings, SettingError } from "./Settings.ts"

/**
 * Time limit of the shutdown, in milliseconds: 30 s for runs and 4 s for the rest. It takes effect if the database does not
 * respond. Other nodes then recover the work as after a crash.
 */
const shutdownMsMax = 34_000

/** Runs until a signal has shut the server down. A failed start ends the process with a message. */
export const runServer = async (env: NodeJS.ProcessEnv): Promise<void> => {
  try {
    await open(env)
  } catch (error) {
    fail(error)
  }
}

const open = async (env: NodeJS.ProcessEnv): Promise<void> => {
  const server = await openServer(readSettings(env))
  let closing = false
  const close = (signal: NodeJS.Signals): void => {
    if (closing) {
      // A terminal that closes may send SIGHUP twice, and systemd may send it right after SIGTERM.
      if (signal === "SIGHUP") return
      // Any other second signal ends the process immediately.
      process.exit(1)
    }
    closing = true
    console.log(`${signal}: waiting for requests and runs to finish`)
    setTimeout(giveUp, shutdownMsMax).unref()
    server.close().then(() => process.exit(0), fail)
  }
  process.on("SIGTERM", close)
  process.on("SIGINT", close)
  process.on("SIGHUP", close)

  // The signal handlers are installed before this output: its reader may stop the server immediately.
  for (const line of server.startupLines) console.log(line)
  console.log(`weft listening on ${server.url}`)
  // Write the compile cache now, so that the next start has it even if this process is killed.
  setImmediate(flushCompileCache)
}

const giveUp = (): never => {
  console.error("weft: some work did not finish in time; this or another node will retry it")
  process.exit(1)
}

const fail = (error: unknown): never => {
  // An error that the operator can correct is one line. Other errors are bugs and include the stack.
  const isCorrectable = error instanceof SettingError || (error instanceof Error && "_tag" in error)
  console.error(isCorrectable ? `weft: ${error.message}` : error)
  process.exit(1)
}
