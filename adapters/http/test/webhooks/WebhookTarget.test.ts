import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { bearerToken } from "../../src/access/BearerToken.ts"
import { parseWebhookTarget, type WebhookTarget } from "../../src/webhooks/WebhookTarget.ts"

const parse = (url: string) => parseWebhookTarget(url, "Invoke")

const segment = fc.stringMatching(/^[a-z0-9._%-]{1,10}$/)

describe("webhook URLs", () => {
  it("have an organization, an environment, a service and an unchanged path", () => {
    fc.assert(
      fc.property(
        segment,
        segment,
        segment,
        fc.array(fc.stringMatching(/^[a-z0-9.%/-]{0,10}$/)),
        (org, env, service, rest) => {
          const path = `/${rest.join("/")}`
          const url = `/webhook/${org}/${env}/${service}${path}`
          const names = { org, env, service, path, url, query: { x: "1" } }
          const target: WebhookTarget = { _tag: "Invoke", isShared: true, ...names }
          assert.deepStrictEqual(parse(`${url}?x=1`), target)
        }
      )
    )
  })

  it("may end after the service", () => {
    assert.strictEqual(parse("/webhook/acme/prod/shop")?.path, "/")
    assert.strictEqual(parse("/webhook/acme/prod/shop?a")?.path, "/")
  })

  it("are invalid with a missing part", () => {
    for (const url of ["/webhook/", "/webhook/a", "/webhook/a/b", "/webhook/a/b/", "/webhook//b/c", "/webhook/a//c"]) {
      assert.isNull(parse(url), url)
    }
  })

  it("have a query of decoded values, the last one per name", () => {
    const query = (text: string) => parse(`/webhook/a/b/c/d?${text}`)?.query
    assert.deepStrictEqual(query("a=1&a=2&b=%C3%A9+x&c"), { a: "2", b: "é x", c: "" })
    assert.deepStrictEqual(query(""), {})
    assert.deepStrictEqual(Object.keys(query("__proto__=1") ?? {}), ["__proto__"])
  })
})

describe("bearer tokens", () => {
  it("follow the scheme, in any case", () => {
    assert.strictEqual(bearerToken("Bearer abc"), "abc")
    assert.strictEqual(bearerToken("bearer  abc "), "abc")
    for (const header of [undefined, "", "Bearer", "Bearer ", "Basic abc", "abc"]) assert.isNull(bearerToken(header))
  })
})
