import { assert, it } from "@effect/vitest"
import type { TrustedModule } from "@weft/core"
import { onBackendOfRun } from "./Backends.ts"
import { eventually, refused } from "./Fields.ts"

type Request = Readonly<Record<string, unknown>>

const endpoint = (webhook: unknown, fn: (request: Request) => unknown = () => "called", more: object = {}) => ({
  main: { hook: Object.assign(fn, { meta: { webhook, ...more } }) }
})

const secretHeaders = { "secret-headers": ["X-Hub-Signature"] }

const modules: Readonly<Record<string, TrustedModule>> = {
  plain: endpoint({ service: "a.b-c_1", path: "/deep/path" }),
  none: { main: { idle: () => null } },
  named: endpoint({ service: "n", path: "/x", name: "My endpoint", description: "Says hello", method: "GET" }),
  badService: endpoint({ service: "a b", path: "/x" }),
  noService: endpoint({ path: "/x" }),
  noPath: endpoint({ service: "a" }),
  badMethod: endpoint({ service: "a", path: "/x", method: "HEAD" }),
  badName: endpoint({ service: "a", path: "/x", name: 7 }),
  badDescription: endpoint({ service: "a", path: "/x", description: {} }),
  badAuth: endpoint({ service: "a", path: "/x", auth: "maybe" }),
  methods: {
    main: Object.fromEntries(
      ["GET", "PUT", "PATCH", "DELETE", "POST"].map((method) => [
        method.toLowerCase(),
        Object.assign(() => method, { meta: { webhook: { service: "m", path: `/${method}`, method } } })
      ])
    )
  },
  closed: endpoint({ service: "c", path: "/x", auth: "required" }, (request) => request),
  answers: endpoint({ service: "r", path: "/x" }, (request) => {
    if (request.body === "throw") throw new Error("hush")
    if (request.body === "respond") return { status: 202, headers: { "x-kind": "made" }, body: { made: true } }
    return { plain: [1, null] }
  }),
  logged: endpoint({ service: "l", path: "/x" }, () => "logged", secretHeaders)
}

onBackendOfRun({ modules }, ({ server }) => {
  const url = (service: string, path: string) => `/webhook/acme/prod/${service}${path}`
  const post = (service: string, path: string, body = "", token: string | null = null) =>
    server().call("POST", url(service, path), { token, body, headers: { "content-type": "text/plain" } })

  /** Deploys the module for the time of the test. */
  const deployed = async (module: string, test: () => Promise<void>): Promise<void> => {
    await server().deploy(module, module)
    try {
      await test()
    } finally {
      await server().call("DELETE", `/v1/projects/${module}`)
    }
  }

  /** The message that the deploy of a module is refused with. */
  const refusal = async (module: string): Promise<string> => {
    await server().call("POST", "/v1/projects", { json: { name: module } })
    const { build_id } = (await server().upload(module, module)).json.data
    return refused(await server().call("POST", `/v1/projects/${module}/builds/${build_id}/deploy`), 400, "bad_request")
  }

  it("service is required, part of the URL, and of URL-safe characters", async () => {
    await deployed("plain", async () => {
      assert.strictEqual((await post("a.b-c_1", "/deep/path")).status, 200)
      refused(await post("a.b-c_2", "/deep/path"), 404, "not_found")
    })
    for (const module of ["badService", "noService"]) assert.include(await refusal(module), "webhook.service")
  })

  it("path is required, and the path within the service", async () => {
    await deployed("plain", async () => {
      assert.strictEqual((await post("a.b-c_1", "/deep/path")).json, "called")
      for (const path of ["/deep", "/deep/path/", "/deep/path/more", ""]) {
        refused(await post("a.b-c_1", path), 404, "not_found")
      }
    })
    assert.include(await refusal("noPath"), "webhook.path")
  })

  it("method is one of five, and POST by default", async () => {
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

  it("name and description are text, for people", async () => {
    await deployed("named", async () => {
      assert.strictEqual((await server().call("GET", url("n", "/x"), { token: null })).status, 200)
    })
    assert.include(await refusal("badName"), "webhook.name")
    assert.include(await refusal("badDescription"), "webhook.description")
  })

  it("auth is none by default, or required: then a credential with webhook execute on the service", async () => {
    await deployed("plain", async () => assert.strictEqual((await post("a.b-c_1", "/deep/path")).status, 200))
    await deployed("closed", async () => {
      refused(await post("c", "/x"), 401, "unauthorized")
      refused(await post("c", "/x", "", "nonsense"), 401, "unauthorized")
      const { token: other } = await server().key({ "webhook:other": ["execute"] })
      refused(await post("c", "/x", "", other), 403, "forbidden")
      for (const resource of ["webhook:*", "webhook:c"]) {
        const { token } = await server().key({ [resource]: ["execute"] })
        const reply = await post("c", "/x", "", token)
        assert.strictEqual(reply.json.auth.type, "api-key")
      }
    })
    assert.include(await refusal("badAuth"), "webhook.auth")
  })

  it("an endpoint is there with the build that defines it, and gone with one that does not", async () => {
    await deployed("plain", async () => {
      assert.strictEqual((await post("a.b-c_1", "/deep/path")).status, 200)
      const { build_id } = (await server().upload("plain", "none")).json.data
      await server().call("POST", `/v1/projects/plain/builds/${build_id}/deploy`)
      refused(await post("a.b-c_1", "/deep/path"), 404, "not_found")
    })
  })

  it("the function has returned before the answer is sent", async () => {
    await deployed("answers", async () => {
      await post("r", "/x")
      const [run] = (await server().call("GET", "/v1/runs?type=call&limit=1")).json.data
      assert.deepInclude(run, { status: "succeeded", project_name: "answers" })
      assert.isNotNull(run.stop_time)
    })
  })

  it("a response object gives status, headers and body; any other value is 200 as JSON", async () => {
    await deployed("answers", async () => {
      const made = await post("r", "/x", "respond")
      assert.strictEqual(made.status, 202)
      assert.strictEqual(made.headers.get("x-kind"), "made")
      assert.deepStrictEqual(made.json, { made: true })
      const plain = await post("r", "/x")
      assert.strictEqual(plain.status, 200)
      assert.deepStrictEqual(plain.json, { plain: [1, null] })
    })
  })

  it("a function that fails is 500 at once, and is not tried again", async () => {
    await deployed("answers", async () => {
      const before = (await server().call("GET", "/v1/runs?limit=1")).json.pagination.total
      const reply = await post("r", "/x", "throw")
      refused(reply, 500, "internal_server_error")
      assert.notInclude(reply.text, "hush")
      const failed = await eventually(server(), "/v1/runs?limit=1", ({ json }) => json.pagination.total > before)
      assert.strictEqual(failed.json.data[0].status, "failed")
      assert.strictEqual(failed.json.pagination.total, before + 1)
    })
  })

  it("run logs mask credentials and secret headers, and nothing else", async () => {
    await deployed("logged", async () => {
      const headers = {
        "proxy-authorization": "Basic hush",
        cookie: "a=hush",
        "set-cookie": "b=hush",
        "x-hub-signature": "hush",
        "x-open": "seen",
        "x-real-ip": "203.0.113.9"
      }
      await server().call("POST", `${url("l", "/x")}?q=seen`, { headers, body: "text" })
      const [run] = (await server().call("GET", "/v1/runs?type=call&limit=1")).json.data
      const logs = await eventually(server(), `/v1/runs/${run.run_id}/logs`, ({ json }) => json.data.length > 0)
      const { data } = logs.json.data[0]
      assert.deepInclude(data, { method: "POST", url: url("l", "/x"), query: { q: "seen" }, ip: "203.0.113.9" })
      assert.strictEqual(data.headers["x-open"], "seen")
      for (const name of ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-hub-signature"]) {
        assert.strictEqual(data.headers[name], "***", name)
      }
      assert.notInclude(logs.text, "hush")
      assert.notInclude(logs.text, server().token)
    })
  })
})
