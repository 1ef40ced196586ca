/** A host with a Weft, pages of its own, and a network that fails once. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { createClient } from "@weft/client"
import { trustedZip } from "@weft/core"
import * as Http from "@weft/http"
import { build } from "esbuild"
import { deploy, startWeft, tenant } from "../server/Server.ts"
import type { Report } from "./Report.ts"

/** A program of the tests with the client inside, as one module. */
export const bundled = async (program: URL): Promise<string> => {
  const conditions = ["weft-source"]
  const external = ["node:process"]
  const entryPoints = [fileURLToPath(program)]
  const built = await build({ entryPoints, bundle: true, format: "esm", conditions, external, write: false })
  return built.outputFiles[0]?.text ?? ""
}

/** Answers a request, or says that it is not its own. */
export type Page = (request: IncomingMessage, response: ServerResponse) => boolean

export interface Host {
  readonly url: string
  readonly token: string
  /** `Last-Event-ID` of the subscriptions that came back. */
  readonly cameBackAfter: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

/** The first subscription that publishes is cut off on its way. */
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
      cutAfterWords(response)
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

/** The connection breaks after it told of the event, and before the run that this set off ends. */
const cutAfterWords = (response: ServerResponse): void => {
  const write = response.write.bind(response)
  const thenCut = (...args: Parameters<typeof write>): boolean => {
    if (Buffer.from(args[0]).includes("event:published")) setTimeout(() => response.socket?.destroy(), 400)
    return write(...args)
  }
  Object.assign(response, { write: thenCut })
}

export const checkReport = (told: Report, host: Host): void => {
  assert.isUndefined(told.failure)
  assert.strictEqual(told.progress.length, 6)
  assert.strictEqual(told.progress.at(-1), 22 * 1024 ** 2)
  assert.strictEqual(told.partsAtOnce, 4)
  assert.strictEqual(told.parts, 5)
  assert.isTrue(told.isSame)
  assert.strictEqual(told.streamed, `${9 * 1024 ** 2} video/mp4`)
  assert.strictEqual(told.aborted, "Error: closed the page")
  const expected = ["event:published", "run:start", '{"step":1}', '{"step":2}', '{"step":3}', "run:stop"]
  assert.deepStrictEqual(told.watched, expected)
  assert.strictEqual(told.interruptions, 1)
  assert.lengthOf(host.cameBackAfter, 1)
  assert.include(["event", "run", "stream"], told.fromEnv)
  assert.strictEqual(told.listed, 2)
  assert.strictEqual(told.code, "not_found")
}
