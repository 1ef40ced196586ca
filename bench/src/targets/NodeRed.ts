/** Node-RED, with the function in a function node between `http in` and `http response`. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { daemons, freePort } from "@weft/tooling/services"
import { type HookServer, type HookTarget, indexes } from "./HookServer.ts"
import { peerFile, peerVersion } from "./Peers.ts"

const code = `msg.payload = { hello: "world", items: msg.payload?.items?.length ?? 0 }
return msg`

/** Returns a tab with the flow of one path. */
const buildFlow = (path: string): ReadonlyArray<unknown> => {
  const id = (name: string) => `${path}-${name}`
  const hook = (method: string) => ({
    id: id(method),
    type: "http in",
    z: id("tab"),
    url: `/${path}`,
    method,
    upload: false,
    skipBodyParsing: false,
    wires: [[id("function")]]
  })
  return [
    { id: id("tab"), type: "tab", label: path },
    hook("get"),
    hook("post"),
    { id: id("function"), type: "function", z: id("tab"), func: code, outputs: 1, wires: [[id("response")]] },
    { id: id("response"), type: "http response", z: id("tab"), statusCode: "", headers: {}, wires: [] }
  ]
}

const settingsOf = (port: number): string =>
  `module.exports = ${JSON.stringify({
    uiHost: "127.0.0.1",
    uiPort: port,
    flowFile: "flows.json",
    credentialSecret: false,
    // Disables the editor and its API, which no call needs.
    httpAdminRoot: false,
    telemetry: { enabled: false, updateNotification: false },
    logging: { console: { level: "warn", metrics: false, audit: false } },
    diagnostics: { enabled: false },
    runtimeState: { enabled: false },
    functionExternalModules: false
  })}`

const startNodeRed = async (builds: number): Promise<HookServer> => {
  const server = daemons("node-red", { NODE_ENV: "production" })
  const port = await freePort()
  const paths = ["hello", ...indexes(builds).map((index) => `b${index}`)]
  writeFileSync(join(server.dir, "settings.js"), settingsOf(port))
  writeFileSync(join(server.dir, "flows.json"), JSON.stringify(paths.flatMap(buildFlow)))
  server.begin("node-red", process.execPath, [
    "--max-semi-space-size=16",
    peerFile("node-red/red.js"),
    ...["--userDir", server.dir, "--settings", join(server.dir, "settings.js")]
  ])
  const [url = "", ...manyUrls] = paths.map((path) => `http://127.0.0.1:${port}/${path}`)
  await server.answering("node-red", url)
  return { url, manyUrls, close: server.remove }
}

export const nodeRed: HookTarget = {
  name: "Node-RED",
  needs: "peers",
  settings: () =>
    `${peerVersion("node-red")}; records nothing; NODE_ENV=production, --max-semi-space-size=16, no editor; http in → function → http response, one flow per build`,
  start: startNodeRed
}
