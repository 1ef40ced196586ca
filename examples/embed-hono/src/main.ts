/** A shop platform on Hono that runs code uploaded by its shops. Sign-in is omitted. */
import { serve } from "@hono/node-server"
import { Hono } from "hono"
// #region weft
import { createWeft, hostFunction } from "weft"
// #endregion
import { z } from "zod"

const { DATA = ".weft-hono", PORT = "3000" } = process.env
/** Replaces the application's database. */
const shops = new Map<string, { readonly name: string; readonly plan: string; keyId?: string }>()
const permissions = { "project:*": ["*"], "build:*": ["*"], "run:*": ["read"] }

// #region weft
const weft = await createWeft({
  dataDir: DATA,
  provisioning: { admit: ({ org, env }) => (env === "production" && shops.get(org)) || null },
  host: { "shop.plan": hostFunction({ output: z.string() }, (_, { org }) => shops.get(org.slug)?.plan ?? "") }
})
// #endregion
const app = new Hono()
app.get("/", (context) => context.text("The application's own page"))
app.post("/shops/:slug", async (context) => {
  shops.set(context.req.param("slug"), { name: (await context.req.json()).name, plan: "Free" })
  return context.body(null, 201)
})
app.post("/shops/:slug/orders", async (context) => {
  const slug = context.req.param("slug")
  const shop = shops.get(slug)
  if (shop === undefined) return context.notFound()
  const { events } = await weft.tenants.ensure({ org: slug, name: shop.name, plan: shop.plan }) // weft
  const { id } = await events.publish({ type: "order:created", data: await context.req.json() }) // weft
  return context.json({ event_id: id }, 201)
})
app.post("/shops/:slug/tokens", async (context) => {
  const slug = context.req.param("slug")
  const shop = shops.get(slug)
  if (shop === undefined) return context.notFound()
  const { env, sessions } = await weft.tenants.ensure({ org: slug, name: shop.name, plan: shop.plan })
  shop.keyId ??= (await weft.apiKeys.create(env.id, { name: "browsers" })).key.id
  const { token } = await sessions.create(shop.keyId, { permissions })
  return context.json({ token }, 201)
})
app.all("*", weft.hono()) // weft: every route that the application does not have
const options = { fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }
const server = serve(options, (address) => console.log("listening", address))
process.once("SIGTERM", async () => {
  server.close()
  await weft.close() // weft
})
