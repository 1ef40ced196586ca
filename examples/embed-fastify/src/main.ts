/** A shop platform on Fastify that runs code uploaded by its shops. Sign-in is omitted. */
import Fastify from "fastify"
// #region weft
import { createWeft, hostFunction, type Json } from "weft"
// #endregion
import { z } from "zod"

const { DATA = ".weft-fastify", PORT = "3000" } = process.env
/** Replaces the application's database. */
const shops = new Map<string, { readonly name: string; readonly plan: string; keyId?: string }>()
const permissions = { "project:*": ["*"], "build:*": ["*"], "run:*": ["read"] }

// #region weft
const weft = await createWeft({
  dataDir: DATA,
  provisioning: { admit: ({ org, env }) => (env === "production" && shops.get(org)) || null },
  host: { "shop.plan": hostFunction({ output: z.string() }, (_, { org }) => shops.get(org.slug)?.plan ?? "") }
})
const mounted = weft.fastify()
const app = Fastify({ serverFactory: mounted.serverFactory }) // on its server, before its router
app.addHook("preClose", () => mounted.close())
// #endregion

type Slug = { Params: { slug: string } }
app.get("/", () => "The application's own page")
app.post<Slug & { Body: { name: string } }>("/shops/:slug", ({ params: { slug }, body }, reply) => {
  shops.set(slug, { name: body.name, plan: "Free" })
  return reply.code(201).send()
})
app.post<Slug & { Body: Json }>("/shops/:slug/orders", async ({ params: { slug }, body }, reply) => {
  const shop = shops.get(slug)
  if (shop === undefined) return reply.code(404).send()
  const { events } = await weft.tenants.ensure({ org: slug, name: shop.name, plan: shop.plan }) // weft
  const { id } = await events.publish({ type: "order:created", data: body }) // weft
  return reply.code(201).send({ event_id: id })
})
app.post<Slug>("/shops/:slug/tokens", async ({ params: { slug } }, reply) => {
  const shop = shops.get(slug)
  if (shop === undefined) return reply.code(404).send()
  const { env, sessions } = await weft.tenants.ensure({ org: slug, name: shop.name, plan: shop.plan })
  shop.keyId ??= (await weft.apiKeys.create(env.id, { name: "browsers" })).key.id
  const { token } = await sessions.create(shop.keyId, { permissions })
  return reply.code(201).send({ token })
})

await app.listen({ port: Number(PORT), host: "127.0.0.1" })
console.log("listening", app.server.address())
process.once("SIGTERM", async () => {
  await app.close()
  await weft.close() // weft
})
