/** A shop platform on Express that runs code uploaded by its shops. Sign-in is omitted. */
import express from "express"
// #region weft
import { createWeft, hostFunction } from "weft"
// #endregion
import { z } from "zod"

const { DATA = ".weft-express", PORT = "3000" } = process.env
/** Replaces the application's database. */
const shops = new Map<string, { readonly name: string; readonly plan: string; keyId?: string }>()
const permissions = { "project:*": ["*"], "build:*": ["*"], "run:*": ["read"] }

const app = express()
// #region weft
const weft = await createWeft({
  dataDir: DATA,
  provisioning: { admit: ({ org, env }) => (env === "production" && shops.get(org)) || null },
  host: { "shop.plan": hostFunction({ output: z.string() }, (_, { org }) => shops.get(org.slug)?.plan ?? "") }
})
app.use(weft.express()) // before any body parser
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
  const { events } = await weft.tenants.ensure({ org: slug, name: shop.name, plan: shop.plan }) // weft
  const { id } = await events.publish({ type: "order:created", data: body }) // weft
  response.status(201).json({ event_id: id })
})
app.post("/shops/:slug/tokens", async ({ params: { slug } }, response) => {
  const shop = shops.get(slug)
  if (shop === undefined) return void response.sendStatus(404)
  const { env, sessions } = await weft.tenants.ensure({ org: slug, name: shop.name, plan: shop.plan })
  shop.keyId ??= (await weft.apiKeys.create(env.id, { name: "browsers" })).key.id
  const { token } = await sessions.create(shop.keyId, { permissions })
  response.status(201).json({ token })
})

const server = app.listen(Number(PORT), "127.0.0.1", () => console.log("listening", server.address()))
process.once("SIGTERM", async () => {
  server.close()
  await weft.close() // weft
})
