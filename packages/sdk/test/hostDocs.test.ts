/** The code of `docs/host-functions.md` compiles, passes its own tests, and works with a host and a tenant over HTTP. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, it } from "vitest"
import * as z from "zod"
import { zipOf } from "./bundle.ts"
import { type AuthorsProject, authorsProject, vitestConfig } from "./compiled.ts"
import { filesIn } from "./markdown.ts"

const Started = z.object({ url: z.string(), token: z.string() })
const Ids = z.object({ data: z.object({ build_id: z.string() }) })

let project: AuthorsProject
beforeAll(async () => {
  const markdown = await readFile(new URL("../../../docs/host-functions.md", import.meta.url), "utf8")
  project = await authorsProject({ ...filesIn(markdown), "vitest.config.mjs": vitestConfig })
})
afterAll(() => project[Symbol.asyncDispose]())

it("compiles, and passes its tests", async () => {
  // Errors in imported files of the repository are ignored.
  expect((await project.compile()).filter(({ file }) => !file.startsWith(".."))).toEqual([])
  const { ok, output } = await project.run("vitest", ["run"])
  expect(ok, output).toBe(true)
}, 120_000)

/** Starts the host of the page, for requests with its API key. */
const startHost = async () => {
  const child: ChildProcess = spawn(process.execPath, ["--conditions=weft-source", "host/main.ts"], {
    cwd: project.folder,
    stdio: ["ignore", "pipe", "inherit"]
  })
  if (child.stdout === null) throw new Error("The host has no output")
  const [line] = await once(createInterface(child.stdout), "line")
  const { url, token } = Started.parse(JSON.parse(String(line)))
  return {
    url,
    send: (path: string, body: string | FormData | null = null) =>
      fetch(`${url}${path}`, {
        method: "POST",
        body,
        headers: {
          authorization: `Bearer ${token}`,
          ...(typeof body === "string" ? { "content-type": "application/json" } : {})
        }
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL")
      await once(child, "exit")
    }
  }
}

it("allows a tenant's code to call the host, over HTTP", async () => {
  const options = ["--bundle", "--format=esm", "--platform=neutral", "--main-fields=module,main"]
  const bundled = await project.run("esbuild", ["src/index.ts", ...options, "--conditions=weft-source"])
  expect(bundled.ok, bundled.output).toBe(true)
  const { zip, hash } = zipOf(bundled.output)

  await using host = await startHost()
  const form = new FormData()
  form.set("hash", hash)
  form.set("file", new Blob([new Uint8Array(zip)]), "build.zip")
  expect((await host.send("/v1/projects", JSON.stringify({ name: "shop" }))).status).toBe(201)
  const { data } = Ids.parse(await (await host.send("/v1/projects/shop/builds", form)).json())
  expect((await host.send(`/v1/projects/shop/builds/${data.build_id}/deploy`)).status).toBe(200)

  const greet = (body: unknown) => host.send("/webhook/acme/production/crm/greet", JSON.stringify(body))
  const known = await greet({ id: "c-7" })
  expect([known.status, await known.json()]).toEqual([200, { id: "c-7", name: "Ada" }])
  expect((await greet({ id: "c-8" })).status).toBe(404)
  // The function does not handle input that the host's schema rejects.
  expect((await greet({ id: "x".repeat(65) })).status).toBe(500)
}, 120_000)
