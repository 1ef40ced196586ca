/** Valid requests for the endpoints of builds. */
import type { PermittedEndpoint } from "@weft/api"
import { type GoodRequest, get, type Made } from "./GoodRequest.ts"
import { type TestServer, uploadForm } from "./TestServer.ts"

export const builds = (server: TestServer, { build }: Made) => {
  const goLive = () => server.upload("shop", "shop", { build_type: "live" })
  return {
    "builds.listAll": get(() => "/v1/builds", "shop"),
    "builds.list": get(() => "/v1/projects/shop/builds", "shop"),
    "builds.upload": {
      method: "POST",
      path: () => "/v1/projects/shop/builds",
      options: () => ({ body: uploadForm("shop") }),
      exact: "shop",
      status: 201
    },
    "builds.deployed": get(() => "/v1/projects/shop/builds/deployed", "shop"),
    "builds.live": { ...get(() => "/v1/projects/shop/builds/live", "shop"), before: goLive },
    "builds.endLive": {
      method: "DELETE",
      path: () => "/v1/projects/shop/builds/live",
      before: goLive,
      exact: "shop",
      status: 204
    },
    "builds.get": get(() => `/v1/projects/shop/builds/${build}`, "shop"),
    "builds.capabilities": get(() => `/v1/projects/shop/builds/${build}/capabilities`, "shop"),
    "builds.manifest": get(() => `/v1/projects/shop/builds/${build}/manifest`, "shop"),
    "builds.download": get(() => `/v1/projects/shop/builds/${build}/download`, "shop"),
    "builds.deploy": {
      method: "POST",
      path: () => `/v1/projects/shop/builds/${build}/deploy`,
      exact: "shop",
      status: 200
    },
    "builds.release": {
      method: "POST",
      path: () => `/v1/projects/shop/builds/${build}/release`,
      exact: "shop",
      status: 204
    },
    "builds.run": {
      method: "POST",
      path: () => `/v1/projects/shop/builds/${build}/run`,
      options: () => ({ json: { fn: "main/plain", args: [1], wait: 5 } }),
      besides: { "call:main/plain": ["create"] },
      exact: "shop",
      status: 201
    },
    "triggers.eventHandlers": get(() => "/v1/projects/shop/event-handlers", "shop"),
    "triggers.schedules": get(() => "/v1/projects/shop/schedules", "shop")
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}
