/**
 * Uploads and downloads of files that are made up on the way and compared on the way, so that neither end of the
 * measurement holds one.
 */
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http"

export interface FileClient {
  readonly url: string
  readonly key: string
}

/** What every file consists of, over and over: no part of it may be taken for another. */
const block = randomBytes(1024 ** 2 + 7)

/** The bytes at a position up to the end of the block or the number wanted. */
const bytesAt = (position: number, wanted: number): Buffer => {
  const start = position % block.length
  return block.subarray(start, Math.min(block.length, start + wanted))
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

const open = ({ url, key }: FileClient, method: string, path: string, length?: number): ClientRequest =>
  request(`${url}/v1/files${path}`, {
    agent,
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(length === undefined ? {} : { "content-length": length })
    }
  })

const answerOf = async (sent: ClientRequest): Promise<IncomingMessage> => {
  const [response] = await once(sent, "response")
  return response
}

const jsonOf = async (response: IncomingMessage): Promise<Record<string, string>> => {
  let text = ""
  for await (const chunk of response) text += chunk
  if ((response.statusCode ?? 500) >= 300) throw new Error(`The server answered ${response.statusCode}: ${text}`)
  return text === "" ? {} : JSON.parse(text).data
}

/** Sends bytes `from` up to `to` of a file. */
const send = async (sent: ClientRequest, from: number, to: number): Promise<Record<string, string>> => {
  const answer = answerOf(sent)
  for (let position = from; position < to; ) {
    const piece = bytesAt(position, Math.min(to - position, 256 * 1024))
    position += piece.length
    if (!sent.write(piece)) await Promise.race([once(sent, "drain"), answer])
  }
  sent.end()
  return jsonOf(await answer)
}

/** In one request; gives the file's id. */
export const uploadFile = async (client: FileClient, path: string, size: number): Promise<string> =>
  (await send(open(client, "PUT", `/upload/${path}`, size), 0, size)).file_id ?? ""

export interface Multipart {
  readonly partBytes: number
  /** Parts on their way at once. */
  readonly atOnce: number
}

export const uploadInParts = async (
  client: FileClient,
  path: string,
  size: number,
  { partBytes, atOnce }: Multipart
): Promise<string> => {
  const begun = open(client, "POST", "/uploads")
  begun.setHeader("content-type", "application/json")
  begun.end(JSON.stringify({ path, expected_size: size }))
  const { upload_id } = await jsonOf(await answerOf(begun))
  let next = 0
  const sender = async (): Promise<void> => {
    while (next * partBytes < size) {
      const number = ++next
      const from = (number - 1) * partBytes
      const to = Math.min(size, from + partBytes)
      await send(open(client, "PUT", `/uploads/${upload_id}/${number}`, to - from), from, to)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
  const completed = open(client, "POST", `/uploads/${upload_id}/complete`)
  completed.end()
  return (await jsonOf(await answerOf(completed))).file_id ?? ""
}

/** Reads all of it and fails when a byte is not what was uploaded. */
export const downloadFile = async (client: FileClient, id: string, size: number): Promise<void> => {
  const asked = open(client, "GET", `/${id}/download`)
  asked.end()
  const response = await answerOf(asked)
  let position = 0
  for await (const chunk of response) {
    for (let at = 0; at < chunk.length; ) {
      const expected = bytesAt(position, chunk.length - at)
      if (expected.compare(chunk, at, at + expected.length) !== 0) throw new Error(`Another byte near ${position}`)
      at += expected.length
      position += expected.length
    }
  }
  if (position !== size) throw new Error(`${position} bytes came of ${size}`)
}

export const removeFile = async (client: FileClient, id: string): Promise<void> => {
  const asked = open(client, "DELETE", `/${id}`)
  asked.end()
  await jsonOf(await answerOf(asked))
}
