/** Valid requests for the endpoints of sessions that evaluate inputs. */
import type { PermittedEndpoint } from "@weft/api"
import type { ApiKey } from "@weft/core/adapter"
import { type GoodRequest, get } from "./GoodRequest.ts"
import type { TestServer } from "./TestServer.ts"

export const repl = (server: TestServer) => {
  let id = ""
  // A session belongs to the credential that opened it.
  const before = async (_: ApiKey, token: string) => {
    id = (await server.call("POST", "/v1/repl", { json: {}, token })).json.data?.repl_id
  }
  const post = (path: () => string, json: unknown, status = 200) =>
    ({ method: "POST", path, options: () => ({ json }), exact: "*", status }) as const
  return {
    "repl.list": get(() => "/v1/repl", "*"),
    "repl.open": post(() => "/v1/repl", {}, 201),
    "repl.input": { ...post(() => `/v1/repl/${id}/input`, { source: "1 + 1" }), before },
    "repl.complete": { ...post(() => `/v1/repl/${id}/complete`, { source: "a", cursor: 1 }), before },
    "repl.close": { method: "DELETE", path: () => `/v1/repl/${id}`, before, exact: "*", status: 204 }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}
