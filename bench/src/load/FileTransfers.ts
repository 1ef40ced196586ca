/** Transfers files over the HTTP API of any server. */
import { once } from "node:events"
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from "node:http"
import { compare, generateChunks } from "./FileContents.ts"

/** Measured operations of a file store. */
export interface FileTransfers {
  /** Uploads a file in one request; returns its id. */
  readonly upload: (path: string, size: number) => Promise<string>
  readonly uploadInParts: (path: string, size: number, parts: Multipart) => Promise<string>
  /** Downloads a file; throws if a byte differs from the upload. */
  readonly download: (id: string, size: number) => Promise<void>
  readonly remove: (id: string) => Promise<void>
}

export interface Multipart {
  readonly partBytes: number
  /** Concurrent parts. */
  readonly atOnce: number
}

export interface FileApi {
  readonly url: string
  readonly key: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export const fileTransfers = (api: FileApi): FileTransfers => ({
  upload: async (path, size) => (await send(open(api, "PUT", `/upload/${path}`, size), 0, size)).file_id ?? "",
  uploadInParts: (path, size, parts) => uploadInParts(api, path, size, parts),
  download: async (id, size) => compare(await followRedirect(open(api, "GET", `/${id}/download`)), size),
  remove: async (id) => {
    await readJson(await awaitResponse(open(api, "DELETE", `/${id}`).end()))
  }
})

const open = ({ url, key }: FileApi, method: string, path: string, length?: number): ClientRequest => {
  const headers = { authorization: `Bearer ${key}`, ...(length === undefined ? {} : { "content-length": length }) }
  return openRequest(`${url}/v1/files${path}`, { method, headers })
}

const openRequest = (url: string, options: RequestOptions): ClientRequest => request(url, { agent, ...options })

const awaitResponse = async (sent: ClientRequest): Promise<IncomingMessage> => {
  const [response] = await once(sent, "response")
  return response
}

/** Returns the response, or that of the address to which it redirects. */
const followRedirect = async (sent: ClientRequest): Promise<IncomingMessage> => {
  const response = await awaitResponse(sent.end())
  const { location } = response.headers
  if (response.statusCode !== 307 || location === undefined) return response
  response.resume()
  return awaitResponse(openRequest(location, {}).end())
}

const readJson = async (response: IncomingMessage): Promise<Record<string, string>> => {
  let text = ""
  for await (const chunk of response) text += chunk
  if ((response.statusCode ?? 500) >= 300) throw new Error(`The server returned ${response.statusCode}: ${text}`)
  return (text === "" ? null : JSON.parse(text).data) ?? {}
}

const send = async (sent: ClientRequest, from: number, to: number): Promise<Record<string, string>> => {
  const answer = awaitResponse(sent)
  for (const piece of generateChunks(from, to)) {
    if (!sent.write(piece)) await Promise.race([once(sent, "drain"), answer])
  }
  sent.end()
  return readJson(await answer)
}

const uploadInParts = async (
  api: FileApi,
  path: string,
  size: number,
  { partBytes, atOnce }: Multipart
): Promise<string> => {
  const begun = open(api, "POST", "/uploads")
  begun.setHeader("content-type", "application/json")
  begun.end(JSON.stringify({ path, expected_size: size }))
  const { upload_id } = await readJson(await awaitResponse(begun))
  let next = 0
  const sender = async (): Promise<void> => {
    while (next * partBytes < size) {
      const number = ++next
      const from = (number - 1) * partBytes
      const to = Math.min(size, from + partBytes)
      await send(open(api, "PUT", `/uploads/${upload_id}/${number}`, to - from), from, to)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  return (await readJson(await awaitResponse(open(api, "POST", `/uploads/${upload_id}/complete`).end()))).file_id ?? ""
}
