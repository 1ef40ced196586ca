/** Valid requests for the endpoints of previews. */
import type { PermittedEndpoint } from "@weft/api"
import { type GoodRequest, get, type Made } from "./GoodRequest.ts"
import type { TestServer } from "./TestServer.ts"

/** Previews of the project `shop`. */
export const previews = (server: TestServer, { build }: Made) => {
  const path = () => "/v1/projects/shop/previews/pr-1"
  const deploy = () => ({ json: { build_id: build } })
  const before = () => server.call("PUT", path(), deploy())
  return {
    "previews.list": get(() => "/v1/projects/shop/previews", "shop"),
    "previews.get": { ...get(path, "shop"), before },
    "previews.deploy": { method: "PUT", path, options: deploy, exact: "shop", status: 200 },
    "previews.extend": {
      method: "PATCH",
      path,
      options: () => ({ json: { ttl: "1h" } }),
      before,
      exact: "shop",
      status: 200
    },
    "previews.remove": { method: "DELETE", path, before, exact: "shop", status: 204 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}
