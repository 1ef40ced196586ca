/** File operations. Acknowledged files exist; a file without a response exists completely or not at all. */
import { randomBytes } from "node:crypto"
import { at, type Harness, listAt, textAt } from "./Harness.ts"
import { ifAnswered } from "./RunExpectations.ts"
import type { Operation } from "./RunWorkload.ts"

const partBytes = 5 * 1024 * 1024

/** Returns the bytes at the path, or null if there is no file. */
const download = async (harness: Harness, path: string): Promise<Buffer | null> => {
  const { body } = await harness.request("GET", `/v1/files?prefix=${encodeURIComponent(path)}`)
  const file = listAt(body, "data").find((found) => at(found, "path") === path)
  if (file === undefined) return null
  return (await harness.request("GET", `/v1/files/${textAt(file, "file_id")}/download`)).bytes
}

/** Checks that the file has one of these contents; null stands for no file. */
const hasOneOf = (harness: Harness, path: string, contents: ReadonlyArray<Buffer | null>) => async () => {
  const found = await download(harness, path)
  const isIt = contents.some((content) => (content === null ? found === null : found?.equals(content) === true))
  return isIt ? null : found === null ? "the file does not exist" : `the file has ${found.length} other bytes`
}

const put = (harness: Harness, path: string, bytes: Buffer) =>
  ifAnswered(harness.request("PUT", `/v1/files/upload/${path}`, { body: bytes }))

const upload: Operation = async (harness) => {
  const path = `crash/${harness.next()}`
  const bytes = randomBytes(200_000)
  const stored = await put(harness, path, bytes)
  harness.expect(`file ${path}`, hasOneOf(harness, path, stored === null ? [null, bytes] : [bytes]))
}

const replace: Operation = async (harness) => {
  const path = `crash/${harness.next()}`
  const [old, replacement] = [randomBytes(1_000), randomBytes(150_000)]
  if ((await put(harness, path, old)) === null)
    return harness.expect(`file ${path}`, hasOneOf(harness, path, [null, old]))
  const stored = await put(harness, path, replacement)
  harness.expect(`replaced file ${path}`, hasOneOf(harness, path, stored === null ? [old, replacement] : [replacement]))
}

const remove: Operation = async (harness) => {
  const path = `crash/${harness.next()}`
  const bytes = randomBytes(1_000)
  const stored = await put(harness, path, bytes)
  if (stored === null) return harness.expect(`file ${path}`, hasOneOf(harness, path, [null, bytes]))
  const id = textAt(stored.body, "data", "file_id")
  const removed = await ifAnswered(harness.request("DELETE", `/v1/files/${id}`))
  harness.expect(`removed file ${path}`, hasOneOf(harness, path, removed === null ? [null, bytes] : [null]))
}

/** Uploads in parts. After a crash the upload continues after the last acknowledged part. */
const inParts: Operation = async (harness) => {
  const path = `crash/${harness.next()}`
  const parts = [randomBytes(partBytes), randomBytes(70_000)]
  const whole = Buffer.concat(parts)
  const begun = await ifAnswered(
    harness.request("POST", "/v1/files/uploads", { body: { path, expected_size: whole.length } })
  )
  if (begun === null) return harness.expect(`file ${path}`, hasOneOf(harness, path, [null]))
  const id = textAt(begun.body, "data", "upload_id")
  const send = async (from: number): Promise<number> => {
    for (const [index, part] of parts.entries()) {
      if (index < from) continue
      if ((await ifAnswered(harness.request("PUT", `/v1/files/uploads/${id}/${index + 1}`, { body: part }))) === null)
        return index
    }
    return parts.length
  }
  const complete = () => harness.request("POST", `/v1/files/uploads/${id}/complete`, { expected: [404] })
  const sent = await send(0)
  const completed = sent < parts.length ? null : await ifAnswered(complete())
  const isThere = hasOneOf(harness, path, [whole])
  if (completed !== null) return harness.expect(`file in parts ${path}`, isThere)
  harness.expect(
    `file in parts ${path}, continued`,
    async () => {
      // The upload does not exist if it was completed without a response.
      if ((await isThere()) === null) return null
      if ((await send(sent)) < parts.length) return "its parts cannot be uploaded"
      const { status } = await complete()
      return status === 404 ? "its upload does not exist" : isThere()
    },
    "until the next check"
  )
}

const abort: Operation = async (harness) => {
  const path = `crash/${harness.next()}`
  const begun = await ifAnswered(harness.request("POST", "/v1/files/uploads", { body: { path } }))
  if (begun === null) return
  const id = textAt(begun.body, "data", "upload_id")
  const part = await ifAnswered(harness.request("PUT", `/v1/files/uploads/${id}/1`, { body: randomBytes(50_000) }))
  const aborted = part === null ? null : await ifAnswered(harness.request("DELETE", `/v1/files/uploads/${id}`))
  harness.expect(`aborted file ${path}`, hasOneOf(harness, path, [null]))
  if (aborted === null) return
  harness.expect(`aborted upload ${id}`, async () => {
    const { status } = await harness.request("POST", `/v1/files/uploads/${id}/complete`, { expected: [404, 400] })
    return status === 404 ? null : `completing it returns ${status}`
  })
}

export const fileWorkload: Readonly<Record<string, Operation>> = {
  "upload a file": upload,
  "replace a file": replace,
  "remove a file": remove,
  "upload a file in parts": inParts,
  "abort an upload": abort
}
