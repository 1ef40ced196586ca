/** A shop platform on Effect that runs code uploaded by its shops. Sign-in is omitted. */
import { createServer } from "node:http"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
// #region weft
import { ApiKeys, Caller, Events, hostFunction, hostIdentity, layer, localCluster, Sessions, Tenants } from "@weft/core"
import * as Filesystem from "@weft/filesystem"
import * as Http from "@weft/http"
import * as IsolatedVm from "@weft/sandbox"
import * as Sqlite from "@weft/sqlite"
// #endregion
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"

const { DATA = ".weft-effect", PORT = "3000" } = process.env
/** Replaces the application's database. */
const shops = new Map<string, { readonly name: string; readonly plan: string; keyId?: string }>()
const permissions = { "project:*": ["*"], "build:*": ["*"], "run:*": ["read"] }
// #region weft
const key = Filesystem.masterKey({ file: `${DATA}/master.key` })
const admit = ({ org, env }: { org: string; env: string }) =>
  Effect.succeed((env === "production" && shops.get(org)) || null)
const host = { "shop.plan": hostFunction({ output: Schema.String }, (_, { org }) => shops.get(org.slug)?.plan ?? "") }
const weft = layer({ masterKeys: [key], provisioning: { admit }, host }).pipe(
  Layer.provide([Sqlite.database({ file: `${DATA}/weft.db` }), Filesystem.blobs({ dir: `${DATA}/blobs` })]),
  Layer.provide([IsolatedVm.sandbox({ key }), localCluster])
)
// #endregion
const findShop = Effect.map(HttpRouter.params, ({ slug = "" }) => ({ slug, shop: shops.get(slug) }))
const openShop = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  shops.set((yield* findShop).slug, { name: String(Object(yield* request.json).name), plan: "Free" })
  return HttpServerResponse.empty({ status: 201 })
})
const order = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const { slug, shop } = yield* findShop
  if (shop === undefined) return HttpServerResponse.empty({ status: 404 })
  const data = yield* request.json
  const { env } = yield* Tenants.use((tenants) => tenants.ensure({ org: slug, env: "production", ...shop })) // weft
  const publish = Events.use((events) => events.publish({ type: "order:created", data })) // weft
  const { event_id } = yield* Effect.provideService(publish, Caller, hostIdentity(env.env_id)) // weft
  return HttpServerResponse.jsonUnsafe({ event_id }, { status: 201 })
})
const tokens = Effect.gen(function* () {
  const { slug, shop } = yield* findShop
  if (shop === undefined) return HttpServerResponse.empty({ status: 404 })
  const { env } = yield* Tenants.use((tenants) => tenants.ensure({ org: slug, env: "production", ...shop }))
  const keys = yield* ApiKeys
  shop.keyId ??= (yield* keys.create(env.env_id, { name: "browsers" })).key.api_key_id
  const create = Sessions.use((sessions) => sessions.create({ permissions }))
  const { token } = yield* Effect.provideServiceEffect(create, Caller, keys.identity(env.env_id, shop.keyId))
  return HttpServerResponse.jsonUnsafe({ token: Redacted.value(token) }, { status: 201 })
})
const own = [
  HttpRouter.route("GET", "/", HttpServerResponse.text("The application's own page")),
  HttpRouter.route("POST", "/shops/:slug", openShop),
  HttpRouter.route("POST", "/shops/:slug/orders", order),
  HttpRouter.route("POST", "/shops/:slug/tokens", tokens)
]
const routes = Layer.merge(HttpRouter.addAll(own), Http.layer()) // weft
const server = NodeHttpServer.layer(createServer, { port: Number(PORT), host: "127.0.0.1" })
HttpRouter.serve(routes).pipe(Layer.provide([server, weft]), Layer.launch, NodeRuntime.runMain)
