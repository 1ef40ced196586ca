/** Clients of HTTP. */
import type { Area } from "../Case.ts"

const echoed = (rest: object) => ({ method: "GET", url: "https://api.example.test/items?page=2", body: "", ...rest })

export const http: Area = {
  name: "HTTP clients",
  cases: [
    {
      name: "axios",
      code: `import axios from "axios"
        export const main = async () => {
          const client = axios.create({ baseURL: "https://api.example.test", headers: { "X-Key": "k" } })
          const { data, status } = await client.post("/items", { name: "Ada" }, { params: { page: 2 } })
          return [status, data.method, data.url, data.body, data.headers["x-key"], data.headers["content-type"]]
        }`,
      expected: [200, "POST", "https://api.example.test/items?page=2", '{"name":"Ada"}', "k", "application/json"]
    },
    {
      name: "axios (errors)",
      code: `import axios, { AxiosError } from "axios"
        export const main = () => axios.get("https://api.example.test/items").catch((error) =>
          [error instanceof AxiosError, error.code, error.response.status, error.response.data])`,
      reply: { status: 404, body: { error: "missing" } },
      expected: [true, "ERR_BAD_REQUEST", 404, { error: "missing" }]
    },
    {
      name: "got",
      code: `import got from "got"
        export const main = async () => {
          const { method, url, body } = await got.get("https://api.example.test/items", { searchParams: { page: 2 } }).json()
          return { method, url, body }
        }`,
      expected: echoed({})
    },
    {
      name: "got (post)",
      code: `import got from "got"
        export const main = async () => {
          const { statusCode, body } = await got.post("https://api.example.test/items", { json: { a: 1 }, responseType: "json", retry: { limit: 0 } })
          return [statusCode, body.method, body.body, body.headers["content-type"]]
        }`,
      expected: [200, "POST", '{"a":1}', "application/json"]
    },
    {
      name: "ky",
      code: `import ky from "ky"
        export const main = async () => {
          const { method, url, body } = await ky.get("https://api.example.test/items", { searchParams: { page: 2 } }).json()
          return { method, url, body }
        }`,
      expected: echoed({})
    },
    {
      name: "node-fetch",
      code: `import fetch, { Headers } from "node-fetch"
        export const main = async () => {
          const response = await fetch("https://api.example.test/items?page=2", { headers: new Headers({ a: "1" }) })
          const { method, url, body } = await response.json()
          return { method, url, body }
        }`,
      expected: echoed({})
    },
    {
      name: "cross-fetch",
      code: `import fetch from "cross-fetch"
        export const main = async () => (await (await fetch("https://api.example.test/items?page=2")).json()).url`,
      expected: "https://api.example.test/items?page=2"
    },
    {
      name: "superagent",
      code: `import request from "superagent"
        export const main = async () => {
          const { status, body } = await request.post("https://api.example.test/items").query({ page: 2 }).send({ a: 1 }).set("X-Key", "k")
          return [status, body.method, body.url, body.body, body.headers["x-key"]]
        }`,
      expected: [200, "POST", "https://api.example.test/items?page=2", '{"a":1}', "k"]
    },
    {
      name: "ofetch",
      code: `import { ofetch } from "ofetch"
        export const main = async () => (await ofetch("https://api.example.test/items", { method: "PUT", body: { a: 1 } })).body`,
      expected: '{"a":1}'
    },
    {
      name: "wretch",
      code: `import wretch from "wretch"
        export const main = async () => (await wretch("https://api.example.test").url("/items").post({ a: 1 }).json()).body`,
      expected: '{"a":1}'
    },
    {
      name: "needle",
      code: `import needle from "needle"
        export const main = async () => {
          const { statusCode, body } = await needle("post", "https://api.example.test/items", { a: 1 }, { json: true })
          return [statusCode, body.method, body.body]
        }`,
      expected: [200, "POST", '{"a":1}']
    },
    {
      name: "follow-redirects",
      code: `import { https } from "follow-redirects"
        export const main = () => new Promise((resolve, reject) => {
          https.get("https://api.example.test/items?page=2", (response) => {
            let text = ""
            response.setEncoding("utf8").on("data", (part) => { text += part }).on("end", () => resolve(JSON.parse(text).url))
          }).on("error", reject)
        })`,
      expected: "https://api.example.test/items?page=2"
    },
    {
      name: "phin",
      code: `import phin from "phin"
        export const main = async () => (await phin({ url: "https://api.example.test/items", parse: "json" })).body.url`,
      expected: "https://api.example.test/items"
    },
    {
      name: "graphql-request",
      packages: ["graphql-request", "graphql"],
      code: `import { gql, request } from "graphql-request"
        export const main = () => request("https://api.example.test/graphql", gql\`query Hello($id: ID!) { item(id: $id) { name } }\`, { id: 7 })`,
      reply: { body: { data: { item: { name: "Ada" } } }, headers: { "content-type": "application/json" } },
      expected: { item: { name: "Ada" } }
    },
    {
      name: "form-data",
      code: `import FormData from "form-data"
        import { PassThrough } from "node:stream"
        import { buffer } from "node:stream/consumers"
        export const main = async () => {
          const form = new FormData()
          form.append("name", "Ada")
          form.append("file", Buffer.from("hello"), { filename: "a.txt", contentType: "text/plain" })
          const text = (await buffer(form.pipe(new PassThrough()))).toString()
          return [text.includes('name="file"; filename="a.txt"'), text.includes("hello"), /boundary=/.test(form.getHeaders()["content-type"])]
        }`,
      expected: [true, true, true]
    },
    {
      name: "p-retry",
      code: `import retry from "p-retry"
        let calls = 0
        export const main = () => retry(async () => { if (++calls < 3) throw new Error("not yet"); return calls }, { minTimeout: 1 })`,
      expected: 3
    },
    {
      name: "agentkeepalive",
      code: `import Agent from "agentkeepalive"
        export const main = () => new Agent.HttpsAgent({ maxSockets: 5 }).options.maxSockets`,
      expected: 5
    },
    {
      name: "qs",
      code: `import qs from "qs"
        export const main = () => [qs.stringify({ a: { b: [1, 2] } }, { encode: false }), qs.parse("a[b]=1&c[]=2")]`,
      expected: ["a[b][0]=1&a[b][1]=2", { a: { b: "1" }, c: ["2"] }]
    }
  ]
}
