/** A system of shops on Fastify that runs code which the shops bring. How people sign in to a shop is left out. */
// #region weft
import { hostFunction, start } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as Sandbox from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
// #endregion
import { Redacted, Schema } from "effect"
import Fastify from "fastify"

const { DATA = ".weft-fastify", PORT = "3000" } = process.env
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
const mounted = Http.fastify(weft)
const app = Fastify({ serverFactory: mounted.serverFactory }) // on its server, before its router
app.addHook("preClose", () => mounted.close())
// #endregion

type Slug = { Params: { slug: string } }
app.get("/", () => "The application's own page")
app.post<Slug & { Body: { name: string } }>("/shops/:slug", ({ params: { slug }, body }, reply) => {
  shops.set(slug, { name: body.name, plan: "Free" })
  return reply.code(201).send()
})
app.post<Slug & { Body: Schema.Json }>("/shops/:slug/orders", async ({ params: { slug }, body }, reply) => {
  const shop = shops.get(slug)
  if (shop === undefined) return reply.code(404).send()
  const { events } = await weft.tenants.ensure({ org: slug, env: "production", ...shop }) // weft
  const { event_id } = await events.publish({ type: "order:created", data: body }) // weft
  return reply.code(201).send({ event_id })
})
app.post<Slug>("/shops/:slug/tokens", async ({ params: { slug } }, reply) => {
  const shop = shops.get(slug)
  if (shop === undefined) return reply.code(404).send()
  const { env, sessions } = await weft.tenants.ensure({ org: slug, env: "production", ...shop })
  shop.keyId ??= (await weft.apiKeys.create(env.env_id, { name: "browsers" })).key.api_key_id
  const { token } = await sessions.create(shop.keyId, { permissions })
  return reply.code(201).send({ token: Redacted.value(token) })
})

await app.listen({ port: Number(PORT), host: "127.0.0.1" })
console.log("listening", app.server.address())
process.once("SIGTERM", async () => {
  await app.close()
  await weft.close() // weft
})
