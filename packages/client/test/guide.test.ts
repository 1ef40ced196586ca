import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as client from "@weft/client"
import { trustedZip } from "@weft/core/testing"
import { transform } from "esbuild"
import { afterAll, beforeAll } from "vitest"
import { endpoints } from "../scripts/Document.ts"
import { Requests } from "./server/Requests.ts"
import { deploy, Server } from "./server/Server.ts"

let server: Server
let weft: client.WeftClient

beforeAll(async () => {
  server = await Server.start()
  weft = server.client().weft
  await deploy(weft, trustedZip("shop"))
})
afterAll(() => server.close())

const guide = readFileSync(new URL("../../../docs/client.md", import.meta.url), "utf8")
const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")

const programsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = ""]) => program)

/** Builds an async function with the names of `scope` as its parameters. */
const compiled = async (program: string, names: ReadonlyArray<string>) => {
  const imports = program.replace(/^import (\{.*\}) from "@weft\/client"$/gm, "const $1 = client")
  const { code } = await transform(`async () => { ${imports} }`, { loader: "ts" })
  return new Function(...names, `return (${code.replace(/;\s*$/, "")})()`)
}

const run = async (program: string): Promise<ReadonlyArray<string>> => {
  const output: Array<string> = []
  const print = (...words: ReadonlyArray<unknown>) => output.push(words.map(String).join(" "))
  const scope = {
    client: { ...client, createClient: (options: client.ClientOptions) => client.createClient({ ...options, fetch }) },
    weft,
    console: { log: print },
    show: print,
    baseUrl: server.listening.url,
    token: server.token,
    video: new Blob(["a film"]),
    file: new Blob(["a film"]),
    backup: new Blob(["everything"]),
    zip: trustedZip("shop")
  }
  const begin = await compiled(program, Object.keys(scope))
  await begin(...Object.values(scope))
  return output
}

describe("docs/client.md", () => {
  it("has programs that run with the expected output", { timeout: 60_000 }, async () => {
    await weft.projects.remove("shop")
    const [start, ...others] = programsIn(guide)
    assert.lengthOf(await run(start ?? ""), 1)
    const { build_id } = await weft.builds.upload("shop", trustedZip("shop"))
    await weft.builds.deploy("shop", build_id)
    const output = []
    for (const program of others) output.push(...(await run(program)))
    assert.match(output[0] ?? "", /^There is no such project [0-9a-f-]{36}$/)
    assert.include(output, "[object Object]")
    assert.include(output, "6 of 6")
    assert.include(output, "succeeded [object Object]")
  })

  it("lists exactly the existing methods", () => {
    const rows = [...guide.matchAll(/^\| (`[^|]+) \| (`[^|]+) \|$/gm)].filter(
      ([, group = ""]) => !group.includes("Url")
    )
    const named = rows.flatMap(([, groups = "", methods = ""]) => {
      const names = [...groups.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)
      const all = [...methods.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)
      return names.some((name) => name in weft) ? [{ names, all }] : []
    })
    const groups = new Set(named.flatMap(({ names }) => names))
    assert.sameMembers([...groups], Object.keys(weft))
    const methods = new Set(named.flatMap(({ all }) => all))
    const others = new Map([
      ["subscribe", "watch"],
      ["subscribeEnv", "watchEnv"],
      ["subscribeWithEvent", "publishAndWatch"]
    ])
    for (const { name } of endpoints()) assert.include([...methods], others.get(name) ?? name)
    for (const { names, all } of named) {
      const there = Object.entries(weft).filter(([name]) => names.includes(name))
      for (const method of all)
        assert.isTrue(
          there.some(([, group]) => method in group),
          method
        )
    }
  })
})

describe("the client's README", () => {
  it("has a program that sends the expected requests", async () => {
    const requests = new Requests()
    const event = { event_id: "e", stream_id: "s" }
    requests.intercept = ({ method, path }) => {
      if (method === "POST") return Response.json({ data: event })
      if (path.endsWith("/subscribe")) return new Response("event: stream:complete\ndata: {}\n\n")
      if (method === "PUT") return Response.json({ data: {} })
      return Response.json({ data: [], pagination: { total: 0, limit: 100, offset: 0 } })
    }
    const [program = ""] = programsIn(readme)
    const output: Array<unknown> = []
    const scope = {
      client: {
        createClient: (options: client.ClientOptions) => client.createClient({ ...options, fetch: requests.fetch })
      },
      token: "t",
      file: new Blob(["film"]),
      console: { log: (...words: ReadonlyArray<unknown>) => output.push(...words) },
      show: (...words: ReadonlyArray<unknown>) => output.push(...words)
    }
    await (await compiled(program, Object.keys(scope)))(...Object.values(scope))
    assert.deepStrictEqual(output, ["stream:complete", 0, 4, 4, 4])
    assert.deepStrictEqual(
      requests.sent.map(({ method, url }) => `${method} ${url.pathname}${url.search}`),
      [
        "POST /v1/events",
        "GET /v1/runs?status=failed&limit=100&offset=0",
        "GET /v1/streams/s/subscribe",
        "PUT /v1/files/upload/videos%2Flaunch.mp4"
      ]
    )
  })
})
