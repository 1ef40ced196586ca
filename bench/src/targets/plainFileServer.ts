/**
 * The limit of the files suite: files in a folder behind a bare `node:http` server, with the same paths and durability.
 * Bytes are piped, synced and renamed, without authentication, records or hashes. The argument is the folder. Prints its
 * port.
 */
import { randomUUID } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"

const dir = process.argv[2] ?? ""
const toPath = (id: string): string => join(dir, "files", id)

/** Buffer size of read streams; the default of 64 KiB takes twice as long. */
const highWaterMark = 1024 ** 2

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r")
  await handle.sync()
  await handle.close()
}

const store = async (request: IncomingMessage, file: string): Promise<number> => {
  const draft = join(dir, randomUUID())
  const handle = await open(draft, "wx")
  const output = handle.createWriteStream({ flush: true, highWaterMark })
  await pipeline(request, output)
  await rename(draft, file)
  return output.bytesWritten
}

/** Number of parts and bytes by file. */
const files = new Map<string, { readonly parts: number; readonly size: number }>()
/** Sizes of the parts of each upload. */
const uploads = new Map<string, Map<number, number>>()

const answer = (response: ServerResponse, data: unknown): void => {
  const text = JSON.stringify({ data })
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) }).end(text)
}

const upload = async (request: IncomingMessage): Promise<unknown> => {
  const id = randomUUID()
  const size = await store(request, toPath(id))
  await syncFolder(join(dir, "files"))
  files.set(id, { parts: 1, size })
  return { file_id: id }
}

const begin = async (): Promise<unknown> => {
  const id = randomUUID()
  await mkdir(join(dir, id))
  uploads.set(id, new Map())
  return { upload_id: id }
}

const takePart = async (request: IncomingMessage, id: string, number: number): Promise<unknown> => {
  const size = await store(request, join(dir, id, String(number)))
  await syncFolder(join(dir, id))
  uploads.get(id)?.set(number, size)
  return { part_number: number }
}

const complete = async (id: string): Promise<unknown> => {
  const sizes = uploads.get(id) ?? new Map<number, number>()
  await rename(join(dir, id), toPath(id))
  await syncFolder(join(dir, "files"))
  files.set(id, { parts: sizes.size, size: [...sizes.values()].reduce((sum, size) => sum + size, 0) })
  uploads.delete(id)
  return { file_id: id }
}

const download = async (response: ServerResponse, id: string): Promise<void> => {
  const { parts, size } = files.get(id) ?? { parts: 0, size: 0 }
  response.writeHead(200, { "content-type": "application/octet-stream", "content-length": size })
  if (parts <= 1) return pipeline(createReadStream(toPath(id), { highWaterMark }), response)
  await pipeline(async function* () {
    for (let part = 1; part <= parts; part++) {
      yield* createReadStream(join(toPath(id), String(part)), { highWaterMark })
    }
  }, response)
}

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const [, , , first = "", second = "", third = ""] = (request.url ?? "").split("/")
  if (request.method === "GET") return download(response, first)
  if (request.method === "DELETE") {
    await rm(toPath(first), { recursive: true, force: true })
    return answer(response, null)
  }
  if (first === "upload") return answer(response, await upload(request))
  if (request.method === "PUT") return answer(response, await takePart(request, second, Number(third)))
  request.resume()
  answer(response, await (third === "complete" ? complete(second) : begin()))
}

await mkdir(join(dir, "files"))
const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(typeof address === "object" && address !== null ? address.port : "")
})
