/** Cloudflare's runtime with the function as an ES module worker. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { daemons, freePort } from "@weft/tooling/services"
import { type HookServer, type HookTarget, indexes } from "./HookServer.ts"
import { peerFile, peerVersion } from "./Peers.ts"

const worker = `
export default {
  async fetch(request) {
    const text = request.method === "POST" ? await request.text() : ""
    const body = text === "" ? null : JSON.parse(text)
    return Response.json({ hello: "world", items: body?.items?.length ?? 0 })
  }
}
`

/** A worker that routes to many others by path, like a dispatch worker. */
const router = `
export default {
  fetch(request, env) {
    return env[request.url.slice(request.url.lastIndexOf("/") + 1)].fetch(request)
  }
}
`

const compatibilityDate = "2026-10-01"

const renderWorker = (file: string, bindings: ReadonlyArray<string> = []): string =>
  `(modules = [(name = "worker.js", esModule = embed "${file}")], compatibilityDate = "${compatibilityDate}",
   bindings = [${bindings.map((name) => `(name = "${name}", service = "${name}")`).join(", ")}])`

const renderConfig = (names: ReadonlyArray<string>, ports: { readonly one: number; readonly many: number }): string => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "one", worker = ${renderWorker("worker.js")}),
    (name = "router", worker = ${renderWorker("router.js", names)}),
    ${names.map((name) => `(name = "${name}", worker = ${renderWorker("worker.js")})`).join(",\n    ")}
  ],
  sockets = [
    (name = "one", address = "127.0.0.1:${ports.one}", http = (), service = "one"),
    (name = "many", address = "127.0.0.1:${ports.many}", http = (), service = "router")
  ]
);
`

/** Returns the path of the binary; npm's `workerd` is a script that starts it. */
const binary = (): string =>
  peerFile(`@cloudflare/workerd-${process.platform}-${process.arch === "x64" ? "64" : process.arch}/bin/workerd`)

const startWorkerd = async (builds: number): Promise<HookServer> => {
  const server = daemons("workerd")
  const ports = { one: await freePort(), many: await freePort() }
  const names = indexes(builds).map((index) => `b${index}`)
  writeFileSync(join(server.dir, "worker.js"), worker)
  writeFileSync(join(server.dir, "router.js"), router)
  writeFileSync(join(server.dir, "config.capnp"), renderConfig(names, ports))
  server.begin("workerd", binary(), ["serve", "config.capnp"])
  const url = `http://127.0.0.1:${ports.one}/`
  await server.answering("workerd", url)
  return { url, manyUrls: names.map((name) => `http://127.0.0.1:${ports.many}/${name}`), close: server.remove }
}

export const workerd: HookTarget = {
  name: "workerd",
  needs: "peers",
  settings: () =>
    `${peerVersion("workerd")}; records nothing; static configuration, no inspector; builds in turn: one worker per build, behind a router by path`,
  start: startWorkerd
}
