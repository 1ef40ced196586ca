/** A host with a Weft, its own pages, and a network that fails once. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { createClient } from "@weft/client"
import { trustedZip } from "@weft/core/testing"
import * as Http from "@weft/http"
import { build } from "esbuild"
import { deploy, startWeft, tenant } from "../server/Server.ts"
import type { Report } from "./Report.ts"

/** Bundles a test program and the client into one module. */
export const bundled = async (program: URL): Promise<string> => {
  const conditions = ["weft-source"]
  const external = ["node:process"]
  const entryPoints = [fileURLToPath(program)]
  const built = await build({ entryPoints, bundle: true, format: "esm", conditions, external, write: false })
  return built.outputFiles[0]?.text ?? ""
}

/** Handles a request and returns true, or returns false. */
export type Page = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Host {
  readonly url: string
  readonly token: string
  /** `Last-Event-ID` of the reconnects. */
  readonly cameBackAfter: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

/** Starts a host. It disconnects the first subscription that publishes. */
export const startHost = async (page: Page = () => false): Promise<Host> => {
  const weft = await startWeft()
  const { token } = await tenant(weft)
  const mount = Http.node(weft)
  const cameBackAfter: Array<string> = []
  let isCut = false
  const server = createServer((request, response) => {
    if (page(request, response)) return
    const after = request.headers["last-event-id"]
    if (after !== undefined) cameBackAfter.push(String(after))
    if (!isCut && request.url === "/v1/streams/subscribe-with-event") {
      isCut = true
      disconnectAfterEvent(response)
    }
    mount(request, response)
  })
  const url = await listen(server)
  await deploy(createClient({ baseUrl: url, token }), trustedZip("shop"))
  return {
    url,
    token,
    cameBackAfter,
    close: async () => {
      await mount.close({ graceMs: 100 })
      server.closeAllConnections()
      server.close()
      await weft.close()
    }
  }
}

const listen = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resolve(`http://127.0.0.1:${port}`)
    })
  })

/** Disconnects after the event's message, before its run ends. */
const disconnectAfterEvent = (response: ServerResponse): void => {
  const write = response.write.bind(response)
  const thenCut = (...args: Parameters<typeof write>): boolean => {
    if (Buffer.from(args[0]).includes("event:published")) setTimeout(() => response.socket?.destroy(), 400)
    return write(...args)
  }
  Object.assign(response, { write: thenCut })
}

export const checkReport = (report: Report, host: Host): void => {
  assert.isUndefined(report.failure)
  assert.strictEqual(report.progress.length, 6)
  assert.strictEqual(report.progress.at(-1), 22 * 1024 ** 2)
  assert.strictEqual(report.partsAtOnce, 4)
  assert.strictEqual(report.parts, 5)
  assert.isTrue(report.isSame)
  assert.strictEqual(report.streamed, `${9 * 1024 ** 2} video/mp4`)
  assert.strictEqual(report.aborted, "Error: closed the page")
  const expected = ["event:published", "run:start", '{"step":1}', '{"step":2}', '{"step":3}', "run:stop"]
  assert.deepStrictEqual(report.watched, expected)
  assert.strictEqual(report.interruptions, 1)
  assert.lengthOf(host.cameBackAfter, 1)
  assert.include(["event", "run", "stream"], report.fromEnv)
  assert.strictEqual(report.listed, 2)
  assert.strictEqual(report.code, "not_found")
}
