/** The reference server: one process with SQLite, files on disk and the complete HTTP API. */
import "./debuggerSignal.ts"
import { beginThread } from "@weft/sqlite/ahead"

// The thread opens the database while this thread loads the other modules.
if (!process.env.WEFT_DATABASE_URL?.startsWith("postgres")) beginThread()
const { runServer } = await import("./runServer.ts")
await runServer(process.env)
