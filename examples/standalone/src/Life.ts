/** The life of the process: it opens the server, says where it is, and closes it when it is told to end. */
import { flushCompileCache } from "node:module"
import { openServer } from "./Server.ts"
import { readSettings, SettingError } from "./Settings.ts"

/**
 * How long the process may take to end, in milliseconds: the 30 s of what runs and some for the rest, but no longer, if
 * the database does not answer. What is lost then is found as after a crash.
 */
const lastMs = 34_000

/** Ends the process with a line on what is wrong, or when a signal came and all is finished. */
export const live = async (env: NodeJS.ProcessEnv): Promise<void> => {
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
    // A second signal does not wait.
    if (closing) process.exit(1)
    closing = true
    console.log(`${signal}: finishing what runs`)
    setTimeout(giveUp, lastMs).unref()
    server.close().then(() => process.exit(0), fail)
  }
  process.on("SIGTERM", close)
  process.on("SIGINT", close)

  // Who reads this may end the server at once.
  for (const line of server.firstWords) console.log(line)
  console.log(`weft listening on ${server.url}`)
  // The next start finds compiled what this one used, however this process ends.
  setImmediate(flushCompileCache)
}

const giveUp = (): never => {
  console.error("weft: not all of it could be finished in time, and is tried again, here or elsewhere")
  process.exit(1)
}

const fail = (error: unknown): never => {
  // What an operator can mend is one line; anything else is ours and comes with its stack.
  const isTheirs = error instanceof SettingError || (error instanceof Error && "_tag" in error)
  console.error(isTheirs ? `weft: ${error.message}` : error)
  process.exit(1)
}
