/** A web server of a host, whose page shows the console to one customer. */
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { stripTypeScriptTypes } from "node:module"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"

const module = fileURLToPath(new URL("../../../../packages/client/src/embed/embedConsole.ts", import.meta.url))

const html = (url: string) => `<!doctype html>
<html lang="en">
  <head><title>Host</title></head>
  <body style="margin: 0">
    <main id="console" style="height: 100vh"></main>
    <script type="module">
      import { embedConsole } from "./embedConsole.js"
      globalThis.sessions = 0
      const session = async () => {
        globalThis.sessions++
        return (await fetch("./session", { method: "POST" })).text()
      }
      embedConsole(document.getElementById("console"), {
        url: ${JSON.stringify(url)},
        session,
        name: "Acme Automations",
        accent: "#f59e0b",
        language: "de",
        theme: "light",
        pages: ["overview", "runs", "events"]
      })
    </script>
  </body>
</html>`

export interface HostPage {
  /** Origin of the page, with an address in place of a name. */
  readonly origin: string
  readonly port: number
  /** Sets the console's URL, and the function that creates sessions of the customer. */
  readonly show: (url: string, session: () => Promise<string>) => void
  readonly close: () => void
}

export const startHostPage = async (): Promise<HostPage> => {
  let page = ""
  let createSession = (): Promise<string> => Promise.reject(new Error("No console is shown"))
  const script = stripTypeScriptTypes(readFileSync(module, "utf8"))
  const server = createServer((request, response) => {
    if (request.url === "/session") return void createSession().then((token) => response.end(token))
    const isScript = request.url === "/embedConsole.js"
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html")
    response.end(isScript ? script : page)
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    show: (url, session) => {
      page = html(url)
      createSession = session
    },
    close: () => server.close()
  }
}
