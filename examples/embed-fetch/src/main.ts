/** A Hono application, or any other host of `(Request) => Response`, that runs its customers' code. */
import { serve } from "@hono/node-server"
import { start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
import { Hono } from "hono"

const { DATA = ".weft-fetch", PORT = "3000" } = process.env

const key = Filesystem.masterKey({ file: `${DATA}/master.key` })
const weft = await start({
  stores: Sqlite.stores({ file: `${DATA}/weft.db` }),
  blobs: Filesystem.blobs({ dir: `${DATA}/blobs` }),
  sandbox: Sandbox.isolated({ key }),
  masterKeys: [key]
})
const mounted = Http.fetch(weft)
const app = new Hono()
app.get("/", (context) => context.text("The application's own page"))
app.all("*", (context) => mounted(context.req.raw))
const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }, (address) =>
  console.log("listening", address)
)

process.once("SIGTERM", async () => {
  server.close()
  await mounted.close()
  await weft.close()
})
