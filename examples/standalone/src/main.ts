/** The reference server: one process, SQLite, files on disk, the whole HTTP surface. */

import { openServer } from "./Server.ts"
import { readSettings, SettingError } from "./Settings.ts"

const main = async (): Promise<void> => {
  const server = await openServer(readSettings(process.env))
  for (const line of server.firstWords) console.log(line)
  console.log(`weft listening on ${server.url}`)

  let closing = false
  const close = (signal: NodeJS.Signals): void => {
    // A second signal does not wait.
    if (closing) process.exit(1)
    closing = true
    console.log(`${signal}: finishing what runs`)
    server.close().then(() => process.exit(0), fail)
  }
  process.on("SIGTERM", close)
  process.on("SIGINT", close)
}

const fail = (error: unknown): never => {
  // What an operator can mend is one line; anything else is ours and comes with its stack.
  const isTheirs = error instanceof SettingError || (error instanceof Error && "_tag" in error)
  console.error(isTheirs ? `weft: ${error.message}` : error)
  process.exit(1)
}

main().catch(fail)
