/** An Express application that runs its customers' code. */
import { start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import express from "express"

const { DATA = ".weft-express", PORT = "3000" } = process.env

const key = Filesystem.masterKey({ file: `${DATA}/master.key` })
const weft = await start({
  stores: Sqlite.stores({ file: `${DATA}/weft.db` }),
  blobs: Filesystem.blobs({ dir: `${DATA}/blobs` }),
  sandbox: Sandbox.isolated({ key }),
  masterKeys: [key]
})
const app = express()
const mounted = Http.express(weft)
// Before any body parser: Weft reads its own bodies.
app.use(mounted)
app.get("/", (_request, response) => void response.send("The application's own page"))
const server = app.listen(Number(PORT), "127.0.0.1", () => console.log("listening", server.address()))

process.once("SIGTERM", async () => {
  server.close()
  await mounted.close()
  await weft.close()
})
