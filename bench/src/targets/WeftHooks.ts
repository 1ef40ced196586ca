/** The reference server with the function as a webhook, in several modes of record. */
import { type HookTarget, indexes } from "./HookServer.ts"
import { startWeft } from "./Server.ts"

type RecordMode = "before" | "after" | "failures"

/** Returns a source that differs for each build, as the sources of 50 users would. */
const buildSource = (service: string, record: RecordMode): string => `
// ${service}
const answer = (request) => ({ hello: "world", items: request.body?.items?.length ?? 0 })
export const get = (request) => ({ status: 200, body: answer(request) })
get.meta = { webhook: { service: "${service}", path: "/hello", method: "GET" }, record: "${record}" }
export const post = (request) => ({ status: 200, body: answer(request) })
post.meta = { webhook: { service: "${service}", path: "/hello", method: "POST" }, record: "${record}" }
`

const durability: { readonly [Mode in RecordMode]: string } = {
  before: "the run with its result is durable before the response",
  after: "the run with its result is durable within a second of the response",
  failures: "only failed runs are stored, within a second of the response"
}

const makeTarget = (name: string, record: RecordMode): HookTarget => ({
  name,
  settings: () =>
    `the reference server with its defaults, one process and its runners; SQLite, WAL, synchronous=FULL: ${durability[record]}; each build has its own isolates`,
  start: async (builds) => {
    const services = ["hello", ...indexes(builds).map((index) => `b${index}`)]
    const { url, close } = await startWeft(
      Object.fromEntries(services.map((name) => [name, buildSource(name, record)]))
    )
    const [one = "", ...manyUrls] = services.map((name) => `${url}/webhook/default/production/${name}/hello`)
    return { url: one, manyUrls, close }
  }
})

export const weftHooks: ReadonlyArray<HookTarget> = [
  makeTarget("Weft", "before"),
  makeTarget("Weft, record after", "after"),
  makeTarget("Weft, record of failures", "failures")
]
