/** The reference server with the function as a webhook. */
import { type HookTarget, indexes } from "./HookServer.ts"
import { startWeft } from "./Server.ts"

/** Returns a source that differs for each build, as the sources of 50 users would. */
const buildSource = (service: string): string => `
// ${service}
const answer = (request) => ({ hello: "world", items: request.body?.items?.length ?? 0 })
export const get = (request) => ({ status: 200, body: answer(request) })
get.meta = { webhook: { service: "${service}", path: "/hello", method: "GET" } }
export const post = (request) => ({ status: 200, body: answer(request) })
post.meta = { webhook: { service: "${service}", path: "/hello", method: "POST" } }
`

export const weftHooks: HookTarget = {
  name: "Weft",
  settings: () =>
    "the reference server with its defaults, one process and its runners; SQLite, WAL, synchronous=FULL: the run with its result is durable before the response; each build has its own isolates",
  start: async (builds) => {
    const services = ["hello", ...indexes(builds).map((index) => `b${index}`)]
    const { url, close } = await startWeft(Object.fromEntries(services.map((name) => [name, buildSource(name)])))
    const [one = "", ...manyUrls] = services.map((name) => `${url}/webhook/default/production/${name}/hello`)
    return { url: one, manyUrls, close }
  }
}
