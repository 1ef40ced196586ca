/** A system of shops on Hono that runs code which the shops bring. How people sign in to a shop is left out. */
import { serve } from "@hono/node-server"
// #region weft
import { hostFunction, start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
// #endregion
import { Redacted, Schema } from "effect"
import { Hono } from "hono"

const { DATA = ".weft-hono", PORT = "3000" } = process.env
/** Stands for the application's own database. */
const shops = new Map<string, { readonly name: string; readonly plan: string; keyId?: string }>()
const permissions = { "project:*": ["*"], "build:*": ["*"], "run:*": ["read"] }

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
const mounted = Http.fetch(weft)
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
  const { events } = await weft.tenants.ensure({ org: slug, env: "production", ...shop }) // weft
  const { event_id } = await events.publish({ type: "order:created", data: await context.req.json() }) // weft
  return context.json({ event_id }, 201)
})
app.post("/shops/:slug/tokens", async (context) => {
  const slug = context.req.param("slug")
  const shop = shops.get(slug)
  if (shop === undefined) return context.notFound()
  const { env, sessions } = await weft.tenants.ensure({ org: slug, env: "production", ...shop })
  shop.keyId ??= (await weft.apiKeys.create(env.env_id, { name: "browsers" })).key.api_key_id
  const { token } = await sessions.create(shop.keyId, { permissions })
  return context.json({ token: Redacted.value(token) }, 201)
})
app.all("*", (context) => mounted(context.req.raw)) // weft: whatever the application has no route for
const options = { fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" }
const server = serve(options, (address) => console.log("listening", address))
process.once("SIGTERM", async () => {
  server.close()
  await mounted.close() // weft
  await weft.close() // weft
})
