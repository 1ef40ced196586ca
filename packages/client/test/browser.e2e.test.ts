import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "@weft/client"
import { trustedZip } from "@weft/core"
import * as Http from "@weft/http"
import { chromium } from "@weft/tooling/services"
import { build } from "esbuild"
import type { Given, Report } from "./browser/Report.ts"
import { deploy, startWeft, tenant } from "./server/Server.ts"

const bundled = async (): Promise<string> => {
  const entry = fileURLToPath(new URL("./browser/page.ts", import.meta.url))
  const conditions = ["weft-source"]
  const built = await build({ entryPoints: [entry], bundle: true, format: "esm", conditions, write: false })
  return built.outputFiles[0]?.text ?? ""
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += chunk
  return text
}

const listen = (server: HttpServer): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resolve(`http://127.0.0.1:${port}`)
    })
  })

/** A host that has pages of its own beside Weft, and one that tells it something in the end. */
const host = (mount: Http.NodeMount, script: string, given: Given) => {
  let tell: (report: Report) => void = () => undefined
  const report = new Promise<Report>((resolve) => {
    tell = resolve
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    switch (request.url) {
      case "/":
        response.setHeader("content-type", "text/html").end(`<script type="module" src="/page.js"></script>`)
        return
      case "/page.js":
        response.setHeader("content-type", "text/javascript").end(script)
        return
      case "/given":
        response.end(JSON.stringify(given))
        return
      case "/report":
        tell(JSON.parse(await textOf(request)))
        response.end()
        return
      default:
        mount(request, response)
    }
  }
  return { server: createServer((request, response) => void answer(request, response)), report }
}

describe("in Chromium, on a page of the host that Weft is mounted in", () => {
  it("files go up and down, subscriptions are heard, and lists and failures are told", async () => {
    const weft = await startWeft()
    const { token } = await tenant(weft)
    const mount = Http.node(weft)
    const { server, report } = host(mount, await bundled(), { token })
    const url = await listen(server)
    await deploy(createClient({ baseUrl: url, token }), trustedZip("shop"))
    const browser = chromium(url)
    try {
      const told = await report
      assert.isUndefined(told.failure)
      assert.include(told.agent, "Chrome")
      assert.strictEqual(told.progress.length, 6)
      assert.strictEqual(told.progress.at(-1), 22 * 1024 ** 2)
      assert.strictEqual(told.partsAtOnce, 4)
      assert.strictEqual(told.parts, 5)
      assert.isTrue(told.isSame)
      assert.strictEqual(told.streamed, `${9 * 1024 ** 2} video/mp4`)
      assert.strictEqual(told.aborted, "Error: closed the page")
      const expected = ["event:published", "run:start", '{"step":1}', '{"step":2}', '{"step":3}', "run:stop"]
      assert.deepStrictEqual(told.watched, expected)
      assert.include(["event", "run", "stream"], told.fromEnv)
      assert.strictEqual(told.listed, 2)
      assert.strictEqual(told.code, "not_found")
    } finally {
      await browser.remove()
      await mount.close({ graceMs: 100 })
      server.closeAllConnections()
      server.close()
      await weft.close()
    }
  })
})
