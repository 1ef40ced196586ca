import { assert, describe, it } from "@effect/vitest"
import {
  type Source,
  type UploadedFile,
  type UploadProgress,
  type UploadState,
  type WeftClient,
  WeftError,
  WeftNetworkError
} from "@weft/client"
import { afterAll, beforeAll } from "vitest"
import { failing, type SentRequest } from "./server/Requests.ts"
import { Server } from "./server/Server.ts"

let server: Server

beforeAll(async () => {
  server = await Server.start()
})
afterAll(() => server.close())

const MiB = 1024 ** 2
const partSize = 5 * MiB

/** Bytes that differ at each position. */
const bytesOf = (length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index++) bytes[index] = (index * 31 + (index >> 8) * 17 + (index >> 16)) & 0xff
  return bytes
}

const big = bytesOf(22 * MiB)
const small = big.slice(0, 1000)

async function* chunks(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

const sources = (bytes: Uint8Array<ArrayBuffer>): Readonly<Record<string, Source>> => ({
  Blob: new Blob([bytes]),
  File: new File([bytes], "name"),
  Uint8Array: bytes,
  ArrayBuffer: bytes.buffer,
  ReadableStream: new Blob([bytes]).stream(),
  AsyncIterable: chunks(bytes, 70_000)
})

const isStored = async (weft: WeftClient, file: UploadedFile, bytes: Uint8Array): Promise<void> => {
  const stored = await (await weft.files.download(file.file_id)).arrayBuffer()
  assert.isTrue(Buffer.from(stored).equals(bytes))
}

const failure = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail("it did not fail")
}

const isPart = ({ method, path }: SentRequest) => method === "PUT" && /\/uploads\/[^/]+\/\d+$/.test(path)
const isNumber = (number: number) => (request: SentRequest) => isPart(request) && request.path.endsWith(`/${number}`)
const isCompletion = ({ path }: SentRequest) => path.endsWith("/complete")

describe("small files", () => {
  for (const kind of Object.keys(sources(small))) {
    it(`are uploaded in one request: ${kind}`, async () => {
      const { weft, requests } = server.client()
      const source = sources(small.slice())[kind] ?? ""
      const file = await weft.files.upload(`small/${kind} &c`, source, { contentType: "text/x" })
      assert.deepInclude(file, { path: `small/${kind} &c`, size: 1000, content_type: "text/x" })
      assert.strictEqual(requests.sent.length, 1)
      await isStored(weft, file, small)
    })
  }

  it("have the type of their Blob, may be text, and may be empty", async () => {
    const { weft } = server.client()
    const typed = await weft.files.upload("typed", new Blob(["{}"], { type: "application/json" }))
    assert.strictEqual(typed.content_type, "application/json")
    const text = await weft.files.upload("text", "blåbær")
    assert.deepInclude(text, { content_type: "application/octet-stream", size: 8 })
    const progress: Array<UploadProgress> = []
    assert.strictEqual((await weft.files.upload("nothing", chunks(new Uint8Array(), 1))).size, 0)
    await weft.files.upload("empty", new Blob([]), { onProgress: (step) => progress.push(step) })
    assert.deepStrictEqual(progress, [
      { sent: 0, total: 0 },
      { sent: 0, total: 0 }
    ])
  })
})

describe("large files", () => {
  for (const kind of Object.keys(sources(small))) {
    it(`are uploaded in concurrent parts: ${kind}`, async () => {
      const { weft, requests } = server.client()
      const progress: Array<UploadProgress> = []
      const file = await weft.files.upload(`big/${kind}`, sources(big)[kind] ?? "", {
        partSize,
        onProgress: (step) => progress.push(step)
      })
      assert.strictEqual(file.size, big.length)
      await isStored(weft, file, big)
      assert.strictEqual(requests.sent.filter(isPart).length, 5)
      assert.strictEqual(requests.mostUnderWay, 4)
      const total = kind === "ReadableStream" || kind === "AsyncIterable" ? null : big.length
      assert.isTrue(progress.every((step) => step.total === total))
      const sent = progress.map((step) => step.sent)
      assert.deepStrictEqual(
        sent,
        [...sent].sort((a, b) => a - b)
      )
      assert.strictEqual(sent.length, 6)
      assert.strictEqual(sent.at(-1), big.length)
    })
  }

  it("are uploaded in parts of the recommended size, up to the maximum concurrency", async () => {
    const { weft, requests } = server.client()
    await isStored(weft, await weft.files.upload("big/usual", big, { concurrency: 1 }), big)
    assert.strictEqual(requests.sent.filter(isPart).length, 3)
    assert.strictEqual(requests.mostUnderWay, 1)
  })

  it("may end exactly with a part", async () => {
    const { weft, requests } = server.client()
    const bytes = big.subarray(0, 2 * partSize)
    await isStored(weft, await weft.files.upload("big/exact", chunks(bytes, MiB), { partSize }), bytes)
    assert.strictEqual(requests.sent.filter(isPart).length, 2)
  })

  it("are uploaded even if parts are lost", async () => {
    const { weft, requests } = server.client()
    requests.interceptNext(isPart, "lost", failing(500), "unanswered")
    await isStored(weft, await weft.files.upload("big/lossy", big, { partSize }), big)
    assert.strictEqual(requests.sent.filter(isPart).length, 8)
  })

  it("are uploaded even if the response to their completion is lost", async () => {
    const { weft, requests } = server.client()
    requests.interceptNext(isCompletion, "unanswered", "lost")
    const file = await weft.files.upload("big/unanswered", big, { partSize })
    assert.deepInclude(file, { path: "big/unanswered", size: big.length })
    assert.strictEqual(requests.sent.filter(isCompletion).length, 3)
    await isStored(weft, file, big)
  })
})

describe("a failed upload in parts", () => {
  const isThere = async (weft: WeftClient, uploadId: string): Promise<boolean> => {
    const error = await failure(weft.files.complete(uploadId))
    return error instanceof WeftError && error.code !== "not_found"
  }

  const uploadIdOf = (sent: ReadonlyArray<SentRequest>): string => sent.find(isPart)?.path.split("/").at(-2) ?? ""

  it("is removed when its signal is aborted", async () => {
    const { weft, requests } = server.client()
    const going = new AbortController()
    const reason = new Error("another file is better")
    requests.intercept = (request) => (isNumber(3)(request) ? "stuck" : "pass")
    const states: Array<UploadState> = []
    const onState = (state: UploadState) => {
      states.push(state)
      if (state.parts.length === 2) going.abort(reason)
    }
    const error = await failure(weft.files.upload("big/aborted", big, { partSize, signal: going.signal, onState }))
    assert.strictEqual(error, reason)
    assert.isFalse(await isThere(weft, states[0]?.upload_id ?? ""))
  })

  it("is removed if it is not resumable", async () => {
    const { weft, requests } = server.client({ retry: { attempts: 1 } })
    requests.intercept = (request) => (isNumber(3)(request) ? "lost" : "pass")
    const error = await failure(weft.files.upload("big/failed", big, { partSize }))
    assert.instanceOf(error, WeftNetworkError)
    assert.isFalse(await isThere(weft, uploadIdOf(requests.sent)))
  })

  it("fails with the error of its source", async () => {
    const { weft, requests } = server.client()
    const torn = new Error("the disk is torn")
    const source = async function* () {
      yield big.subarray(0, 12 * MiB)
      throw torn
    }
    assert.strictEqual(await failure(weft.files.upload("big/torn", source(), { partSize })), torn)
    assert.isFalse(await isThere(weft, uploadIdOf(requests.sent)))
  })

  it("releases its source", async () => {
    const { weft, requests } = server.client({ retry: false })
    let isReleased = false
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(big.slice(0, MiB)),
      cancel: () => {
        isReleased = true
      }
    })
    requests.intercept = (request) => (isPart(request) ? "lost" : "pass")
    assert.instanceOf(await failure(weft.files.upload("big/endless", source, { partSize })), WeftNetworkError)
    assert.isTrue(isReleased)
  })

  for (const kind of ["Blob", "ReadableStream"]) {
    it(`can be resumed: ${kind}`, async () => {
      const first = server.client({ retry: false })
      const states: Array<UploadState> = []
      const onState = (state: UploadState) => states.push(state)
      first.requests.intercept = (request) => (isNumber(4)(request) ? "lost" : "pass")
      await failure(first.weft.files.upload(`big/resumed ${kind}`, sources(big)[kind] ?? "", { partSize, onState }))
      const kept: UploadState = JSON.parse(JSON.stringify(states.at(-1)))
      assert.includeMembers(
        kept.parts.map((part) => part.part_number),
        [1, 2, 3]
      )

      const { weft, requests } = server.client()
      const progress: Array<number> = []
      const file = await weft.files.upload(`big/resumed ${kind}`, sources(big)[kind] ?? "", {
        resume: kept,
        onProgress: ({ sent }) => progress.push(sent)
      })
      await isStored(weft, file, big)
      assert.strictEqual(requests.sent.filter(isPart).length, 5 - kept.parts.length)
      assert.strictEqual(progress[0], kept.parts.length * partSize)
      assert.strictEqual(progress.at(-1), big.length)
    })
  }

  it("rejects a resume with other bytes, and is unchanged", async () => {
    const { weft, requests } = server.client({ retry: false })
    const states: Array<UploadState> = []
    const onState = (state: UploadState) => states.push(state)
    requests.intercept = (request) => (isNumber(5)(request) ? "lost" : "pass")
    await failure(weft.files.upload("big/other", big, { partSize, onState }))
    const resume = states.at(-1)
    assert.isDefined(resume)
    const others = big.subarray(0, 20 * MiB)
    assert.instanceOf(await failure(weft.files.upload("big/other", others, { resume })), TypeError)
    requests.intercept = () => "pass"
    await isStored(weft, await weft.files.upload("big/other", big, { resume }), big)
  })
})
