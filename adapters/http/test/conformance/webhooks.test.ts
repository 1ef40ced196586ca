import { assert, it } from "@effect/vitest"
import type { TrustedModule } from "@weft/core/testing"
import { onBackendOfRun } from "./Backends.ts"
import { refused } from "./Fields.ts"

const endpoint = (webhook: unknown) => ({ main: { hook: Object.assign(() => "called", { meta: { webhook } }) } })

const modules: Readonly<Record<string, TrustedModule>> = {
  plain: endpoint({ service: "a.b-c_1", path: "/deep/path" }),
  named: endpoint({ service: "n", path: "/x", name: "My endpoint", description: "Says hello", method: "GET" }),
  badService: endpoint({ service: "a b", path: "/x" }),
  noService: endpoint({ path: "/x" }),
  noPath: endpoint({ service: "a" }),
  badMethod: endpoint({ service: "a", path: "/x", method: "HEAD" }),
  badName: endpoint({ service: "a", path: "/x", name: 7 }),
  badDescription: endpoint({ service: "a", path: "/x", description: {} }),
  methods: {
    main: Object.fromEntries(
      ["GET", "PUT", "PATCH", "DELETE", "POST"].map((method) => [
        method.toLowerCase(),
        Object.assign(() => method, { meta: { webhook: { service: "m", path: `/${method}`, method } } })
      ])
    )
  }
}

onBackendOfRun({ modules }, ({ server }) => {
  const url = (service: string, path: string) => `/webhook/acme/prod/${service}${path}`
  const post = (service: string, path: string, body = "", token: string | null = null) =>
    server().call("POST", url(service, path), { token, body, headers: { "content-type": "text/plain" } })

  /** Deploys the module during the test. */
  const deployed = async (module: string, test: () => Promise<void>): Promise<void> => {
    await server().deploy(module, module)
    try {
      await test()
    } finally {
      await server().call("DELETE", `/v1/projects/${module}`)
    }
  }

  /** Returns the error message of a rejected deploy. */
  const refusal = async (module: string): Promise<string> => {
    await server().call("POST", "/v1/projects", { json: { name: module } })
    const { build_id } = (await server().upload(module, module)).json.data
    return refused(await server().call("POST", `/v1/projects/${module}/builds/${build_id}/deploy`), 400, "bad_request")
  }

  it("service is required, part of the URL, and consists of URL-safe characters", async () => {
    await deployed("plain", async () => {
      assert.strictEqual((await post("a.b-c_1", "/deep/path")).status, 200)
      refused(await post("a.b-c_2", "/deep/path"), 404, "not_found")
    })
    for (const module of ["badService", "noService"]) assert.include(await refusal(module), "webhook.service")
  })

  it("path is required, and relative to the service", async () => {
    await deployed("plain", async () => {
      assert.strictEqual((await post("a.b-c_1", "/deep/path")).json, "called")
      for (const path of ["/deep", "/deep/path/", "/deep/path/more", ""]) {
        refused(await post("a.b-c_1", path), 404, "not_found")
      }
    })
    assert.include(await refusal("noPath"), "webhook.path")
  })

  it("method is one of five, POST by default", async () => {
    await deployed("methods", async () => {
      const methods = ["GET", "PUT", "PATCH", "DELETE", "POST"]
      for (const own of methods) {
        for (const method of methods) {
          const reply = await server().call(method, url("m", `/${own}`), { token: null })
          if (method === own) assert.strictEqual(reply.json, own)
          else refused(reply, 404, "not_found")
        }
      }
    })
    await deployed("plain", async () => {
      assert.strictEqual((await post("a.b-c_1", "/deep/path")).status, 200)
      refused(await server().call("GET", url("a.b-c_1", "/deep/path"), { token: null }), 404, "not_found")
    })
    assert.include(await refusal("badMethod"), "webhook.method")
  })

  it("name and description are free text", async () => {
    await deployed("named", async () => {
      assert.strictEqual((await server().call("GET", url("n", "/x"), { token: null })).status, 200)
    })
    assert.include(await refusal("badName"), "webhook.name")
    assert.include(await refusal("badDescription"), "webhook.description")
  })
})
