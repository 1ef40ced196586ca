/** The reference server: one process, SQLite, files on disk, the whole HTTP surface. */
import { beginThread } from "@weft/sqlite/ahead"

// All else is loaded beside it.
if (!process.env.WEFT_DATABASE_URL?.startsWith("postgres")) beginThread()
const { live } = await import("./Life.ts")
await live(process.env)
