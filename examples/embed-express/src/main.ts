/** A system of shops on Express that runs code which the shops bring. How people sign in to a shop is left out. */
// #region weft
import { hostFunction, start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
// #endregion
import { Redacted, Schema } from "effect"
import express from "express"

const { DATA = ".weft-express", PORT = "3000" } = process.env
/** Stands for the application's own database. */
const shops = new Map<string, { readonly name: string; readonly plan: string; keyId?: string }>()
const permissions = { "project:*": ["*"], "build:*": ["*"], "run:*": ["read"] }

const app = express()
// #region weft
const key = Filesystem.masterKey({ file: `${DATA}/master.key` })
const weft = await start({
  stores: Sqlite.stores({ file: `${DATA}/weft.db` }),
  blobs: Filesystem.blobs({ dir: `${DATA}/blobs` }),
  sandbox: Sandbox.isolated({ key }),
  masterKeys: [key],
  provisioning: { admit: ({ org, env }) => (env === "production" && shops.get(org)) || null },
  host: { "shop.plan": hostFunction({ output: Schema.String }, (_, { org }) => shops.get(org.slug)?.plan ?? "") }
})
const mounted = Http.express(weft)
app.use(mounted) // before any body parser
// #endregion
app.use(express.json())

app.get("/", (_request, response) => void response.send("The application's own page"))
app.post("/shops/:slug", ({ params: { slug }, body }, response) => {
  shops.set(slug, { name: body.name, plan: "Free" })
  response.sendStatus(201)
})
app.post("/shops/:slug/orders", async ({ params: { slug }, body }, response) => {
  const shop = shops.get(slug)
  if (shop === undefined) return void response.sendStatus(404)
  const { events } = await weft.tenants.ensure({ org: slug, env: "production", ...shop }) // weft
  const { event_id } = await events.publish({ type: "order:created", data: body }) // weft
  response.status(201).json({ event_id })
})
app.post("/shops/:slug/tokens", async ({ params: { slug } }, response) => {
  const shop = shops.get(slug)
  if (shop === undefined) return void response.sendStatus(404)
  const { env, sessions } = await weft.tenants.ensure({ org: slug, env: "production", ...shop })
  shop.keyId ??= (await weft.apiKeys.create(env.env_id, { name: "browsers" })).key.api_key_id
  const { token } = await sessions.create(shop.keyId, { permissions })
  response.status(201).json({ token: Redacted.value(token) })
})

const server = app.listen(Number(PORT), "127.0.0.1", () => console.log("listening", server.address()))
process.once("SIGTERM", async () => {
  server.close()
  await mounted.close() // weft
  await weft.close() // weft
})
