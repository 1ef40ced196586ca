/** Valid requests for the endpoints of files. */
import type { PermittedEndpoint } from "@weft/api"
import type { GoodRequest } from "./GoodRequest.ts"
import type { CallOptions, TestServer } from "./TestServer.ts"

export const fileRequests = (server: TestServer) => {
  const folder = "matrix"
  let file = ""
  let upload = ""
  const path = (name: string) => `${folder}/${name}.txt`
  const bytes: CallOptions = { body: "x", headers: { "content-type": "text/plain" } }
  const put = async () => {
    file = (await server.call("PUT", `/v1/files/upload/${path("kept")}`, bytes)).json.data.file_id
  }
  const begin = async () => {
    const json = { path: path("joined") }
    upload = (await server.call("POST", "/v1/files/uploads", { json })).json.data.upload_id
  }
  const beginWithPart = async () => {
    await begin()
    await server.call("PUT", `/v1/files/uploads/${upload}/1`, bytes)
  }
  /** An existing path, which needs another permission than a new one. */
  const clear = async () => {
    const { data } = (await server.call("GET", `/v1/files?prefix=${folder}/`)).json
    for (const { file_id } of data) await server.call("DELETE", `/v1/files/${file_id}`)
  }
  const of = (method: string, at: () => string, status: number, before: () => Promise<unknown>): GoodRequest => ({
    method,
    path: at,
    before: () => clear().then(before),
    exact: path("kept"),
    status
  })
  const none = () => Promise.resolve()
  return {
    "files.list": of("GET", () => "/v1/files", 200, none),
    "files.get": of("GET", () => `/v1/files/${file}`, 200, put),
    "files.download": of("GET", () => `/v1/files/${file}/download`, 200, put),
    "files.link": {
      ...of("POST", () => `/v1/files/${file}/links`, 201, put),
      options: () => ({ json: { expires_in: 60 } })
    },
    "files.remove": of("DELETE", () => `/v1/files/${file}`, 204, put),
    "files.upload": {
      ...of("PUT", () => `/v1/files/upload/${path("new")}`, 200, none),
      options: () => bytes,
      exact: path("new")
    },
    "files.initiate": {
      ...of("POST", () => "/v1/files/uploads", 201, none),
      options: () => ({ json: { path: path("new") } }),
      exact: path("new")
    },
    "files.putPart": {
      ...of("PUT", () => `/v1/files/uploads/${upload}/1`, 200, begin),
      options: () => bytes,
      exact: path("joined")
    },
    "files.complete": {
      ...of("POST", () => `/v1/files/uploads/${upload}/complete`, 200, beginWithPart),
      exact: path("joined")
    },
    "files.abort": { ...of("DELETE", () => `/v1/files/uploads/${upload}`, 204, begin), exact: path("joined") }
  } satisfies Partial<Record<PermittedEndpoint, GoodRequest>>
}
