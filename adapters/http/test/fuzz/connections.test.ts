/** Arbitrary bytes on the server's port, and forms of uploads in arbitrary chunks. */
import { fuzzed } from "@weft/tooling/fuzz"
import { afterAll, beforeAll } from "vitest"
import { TestServer } from "../server/TestServer.ts"
import { connections, type Server } from "./Connections.ts"
import { forms } from "./Forms.ts"

let server: TestServer | undefined
let known: Server | undefined

beforeAll(async () => {
  server = await TestServer.start({ bodyBytes: 64 * 1024 })
  await server.deploy("hooks", "shop")
  const { json } = await server.call("PUT", "/v1/files/upload/kept.txt", {
    body: "some bytes",
    headers: { "content-type": "text/plain" }
  })
  known = { port: server.listening.port, token: server.token, file: json.data.file_id }
})
afterAll(() => server?.close())

const world = (): Server => {
  if (known === undefined) throw new Error("The server is there from the first test on")
  return known
}

fuzzed(connections(world), 200)
fuzzed(forms, 400)
