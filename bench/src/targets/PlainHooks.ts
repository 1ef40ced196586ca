/** The limit: the function in a bare `node:http` server. It has no builds, and responds on every path. */
import { type HookTarget, indexes } from "./HookServer.ts"
import { startPlain } from "./Server.ts"

export const plainHooks: HookTarget = {
  name: "plain node:http",
  isLimit: true,
  settings: () => `Node ${process.version.slice(1)}; records nothing, one function`,
  start: async (builds) => {
    const { url, close } = await startPlain()
    return { url: `${url}/hello`, manyUrls: indexes(builds).map((index) => `${url}/b${index}`), close }
  }
}
