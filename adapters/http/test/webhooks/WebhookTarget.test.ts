import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { bearerToken } from "../../src/access/BearerToken.ts"
import { parseWebhookTarget } from "../../src/webhooks/WebhookTarget.ts"

const segment = fc.stringMatching(/^[a-z0-9._%-]{1,10}$/)

describe("webhook URLs", () => {
  it("have an organization, an environment, a service and a path that stays as it was sent", () => {
    fc.assert(
      fc.property(
        segment,
        segment,
        segment,
        fc.array(fc.stringMatching(/^[a-z0-9.%/-]{0,10}$/)),
        (org, env, service, rest) => {
          const path = `/${rest.join("/")}`
          const url = `/webhook/${org}/${env}/${service}${path}`
          assert.deepStrictEqual(parseWebhookTarget(`${url}?x=1`), { org, env, service, path, url, query: { x: "1" } })
        }
      )
    )
  })

  it("may end with the service", () => {
    assert.strictEqual(parseWebhookTarget("/webhook/acme/prod/shop")?.path, "/")
    assert.strictEqual(parseWebhookTarget("/webhook/acme/prod/shop?a")?.path, "/")
  })

  it("name nothing with a part missing", () => {
    for (const url of ["/webhook/", "/webhook/a", "/webhook/a/b", "/webhook/a/b/", "/webhook//b/c", "/webhook/a//c"]) {
      assert.isNull(parseWebhookTarget(url), url)
    }
  })

  it("have a query of decoded values; the last one of a name counts", () => {
    const query = (text: string) => parseWebhookTarget(`/webhook/a/b/c/d?${text}`)?.query
    assert.deepStrictEqual(query("a=1&a=2&b=%C3%A9+x&c"), { a: "2", b: "é x", c: "" })
    assert.deepStrictEqual(query(""), {})
    assert.deepStrictEqual(Object.keys(query("__proto__=1") ?? {}), ["__proto__"])
  })
})

describe("bearer tokens", () => {
  it("are what follows the scheme, in any case", () => {
    assert.strictEqual(bearerToken("Bearer abc"), "abc")
    assert.strictEqual(bearerToken("bearer  abc "), "abc")
    for (const header of [undefined, "", "Bearer", "Bearer ", "Basic abc", "abc"]) assert.isNull(bearerToken(header))
  })
})
