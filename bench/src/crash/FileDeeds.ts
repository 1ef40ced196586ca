/** What a client does about files: what was acknowledged is there, what was not is there whole or not at all. */
import { randomBytes } from "node:crypto"
import type { Deed } from "./RunDeeds.ts"
import { known } from "./RunFacts.ts"
import { at, listAt, textAt, type World } from "./World.ts"

const partBytes = 5 * 1024 * 1024

/** The bytes at the path; null when there is no file. */
const download = async (world: World, path: string): Promise<Buffer | null> => {
  const { body } = await world.ask("GET", `/v1/files?prefix=${encodeURIComponent(path)}`)
  const file = listAt(body, "data").find((found) => at(found, "path") === path)
  if (file === undefined) return null
  return (await world.ask("GET", `/v1/files/${textAt(file, "file_id")}/download`)).bytes
}

/** It has one of these contents; null stands for no file. */
const hasOneOf = (world: World, path: string, contents: ReadonlyArray<Buffer | null>) => async () => {
  const found = await download(world, path)
  const isIt = contents.some((content) => (content === null ? found === null : found?.equals(content) === true))
  return isIt ? null : `it has ${found === null ? "no file" : `${found.length} other bytes`}`
}

const put = (world: World, path: string, bytes: Buffer) =>
  known(world.ask("PUT", `/v1/files/upload/${path}`, { body: bytes }))

const upload: Deed = async (world) => {
  const path = `crash/${world.next()}`
  const bytes = randomBytes(200_000)
  const stored = await put(world, path, bytes)
  world.hold(`file ${path}`, hasOneOf(world, path, stored === null ? [null, bytes] : [bytes]))
}

const replace: Deed = async (world) => {
  const path = `crash/${world.next()}`
  const [old, young] = [randomBytes(1_000), randomBytes(150_000)]
  if ((await put(world, path, old)) === null) return world.hold(`file ${path}`, hasOneOf(world, path, [null, old]))
  const stored = await put(world, path, young)
  world.hold(`replaced file ${path}`, hasOneOf(world, path, stored === null ? [old, young] : [young]))
}

const remove: Deed = async (world) => {
  const path = `crash/${world.next()}`
  const bytes = randomBytes(1_000)
  const stored = await put(world, path, bytes)
  if (stored === null) return world.hold(`file ${path}`, hasOneOf(world, path, [null, bytes]))
  const id = textAt(stored.body, "data", "file_id")
  const removed = await known(world.ask("DELETE", `/v1/files/${id}`))
  world.hold(`removed file ${path}`, hasOneOf(world, path, removed === null ? [null, bytes] : [null]))
}

/** What was acknowledged of it is not sent again: after a crash it goes on where it was. */
const inParts: Deed = async (world) => {
  const path = `crash/${world.next()}`
  const parts = [randomBytes(partBytes), randomBytes(70_000)]
  const whole = Buffer.concat(parts)
  const begun = await known(world.ask("POST", "/v1/files/uploads", { body: { path, expected_size: whole.length } }))
  if (begun === null) return world.hold(`file ${path}`, hasOneOf(world, path, [null]))
  const id = textAt(begun.body, "data", "upload_id")
  const send = async (from: number): Promise<number> => {
    for (const [index, part] of parts.entries()) {
      if (index < from) continue
      if ((await known(world.ask("PUT", `/v1/files/uploads/${id}/${index + 1}`, { body: part }))) === null) return index
    }
    return parts.length
  }
  const complete = () => world.ask("POST", `/v1/files/uploads/${id}/complete`, { expected: [404] })
  const sent = await send(0)
  const completed = sent < parts.length ? null : await known(complete())
  const isThere = hasOneOf(world, path, [whole])
  if (completed !== null) return world.hold(`file in parts ${path}`, isThere)
  world.hold(
    `file in parts ${path}, continued`,
    async () => {
      // Gone when it was completed before, though nobody was told.
      if ((await isThere()) === null) return null
      if ((await send(sent)) < parts.length) return "its parts cannot be sent"
      const { status } = await complete()
      return status === 404 ? "its upload is gone" : isThere()
    },
    "until the next look"
  )
}

const abort: Deed = async (world) => {
  const path = `crash/${world.next()}`
  const begun = await known(world.ask("POST", "/v1/files/uploads", { body: { path } }))
  if (begun === null) return
  const id = textAt(begun.body, "data", "upload_id")
  const part = await known(world.ask("PUT", `/v1/files/uploads/${id}/1`, { body: randomBytes(50_000) }))
  const aborted = part === null ? null : await known(world.ask("DELETE", `/v1/files/uploads/${id}`))
  world.hold(`aborted file ${path}`, hasOneOf(world, path, [null]))
  if (aborted === null) return
  world.hold(`aborted upload ${id}`, async () => {
    const { status } = await world.ask("POST", `/v1/files/uploads/${id}/complete`, { expected: [404, 400] })
    return status === 404 ? null : `completing it answers ${status}`
  })
}

export const fileDeeds: Readonly<Record<string, Deed>> = {
  "upload a file": upload,
  "replace a file": replace,
  "remove a file": remove,
  "upload a file in parts": inParts,
  "abort an upload": abort
}
