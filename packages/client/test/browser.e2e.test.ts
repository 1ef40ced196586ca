import type { IncomingMessage } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { chromium } from "@weft/tooling/services"
import { bundled, checkReport, type Page, startHost } from "./runtimes/Host.ts"
import type { Report } from "./runtimes/Report.ts"

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += chunk
  return text
}

/** The pages of a host, and a route that receives the report. */
const pages = (script: string, tokenOf: () => string) => {
  const { promise: report, resolve: tell, reject } = Promise.withResolvers<Report>()
  const page: Page = (request, response) => {
    if (request.url === "/")
      response.setHeader("content-type", "text/html").end(`<script type="module" src="/page.js"></script>`)
    else if (request.url === "/page.js") response.setHeader("content-type", "text/javascript").end(script)
    else if (request.url === "/given") response.end(JSON.stringify({ token: tokenOf() }))
    else if (request.url === "/report") {
      textOf(request).then((text) => tell(JSON.parse(text)), reject)
      response.end()
    } else return false
    return true
  }
  return { page, report }
}

describe("the client in Chromium, on a page of the host", () => {
  it("transfers files, receives and reconnects subscriptions, and returns lists and errors", async () => {
    let token = ""
    const { page, report } = pages(await bundled(new URL("./browser/page.ts", import.meta.url)), () => token)
    const host = await startHost(page)
    token = host.token
    const browser = chromium(host.url)
    try {
      const received = await report
      checkReport(received, host)
      assert.include(received.agent, "Chrome")
    } finally {
      await browser.remove()
      await host.close()
    }
  })
})
