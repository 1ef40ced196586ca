/** Multipart forms of build uploads: a line with the boundary, and the body. */
import { type Draws, type Target, utf8 } from "@weft/tooling/fuzz"
import { Effect, Result, Stream } from "effect"
import { Multipart } from "effect/http"
import { assert } from "vitest"
import { BodyMemoryBudget } from "../../src/bodies/BodyMemoryBudget.ts"
import { BufferedBody } from "../../src/bodies/BufferedBody.ts"
import { readUploadForm, type UploadForm } from "../../src/handlers/UploadForm.ts"

const archiveBytes = 4096
const boundaries = ["b", "----WebKitFormBoundaryx", "a'()+_,-./:=?", "0".repeat(70)]
const hash = "0123456789abcdef".repeat(4)
const files: ReadonlyArray<Uint8Array> = [
  utf8("PK"),
  utf8(""),
  utf8("\r\n"),
  utf8("--b"),
  utf8("\r\n--"),
  Buffer.from([0, 255, 13, 10]),
  Buffer.alloc(4096, 120),
  Buffer.alloc(4097, 120)
]

const partOf = (draws: Draws): Buffer => {
  const isFile = draws.chance(0.5)
  const name = isFile ? "file" : draws.one(["hash", "hash", "build_type", "build_id", "other", "__proto__", 'a"b', ""])
  const filename = isFile ? draws.one(['; filename="a.zip"', '; filename=""', "; filename*=UTF-8''%e2", ""]) : ""
  const lines = [
    `Content-Disposition: form-data; name="${name}"${filename}`,
    ...draws.some(
      () =>
        draws.one([
          "Content-Type: application/zip",
          "Content-Type: text/plain",
          "Content-Transfer-Encoding: base64",
          "X"
        ]),
      1
    )
  ]
  const value = isFile
    ? draws.one(files)
    : utf8(draws.one([hash, hash, "bundle", "live", "x", "", "é", "y".repeat(5000)]))
  return Buffer.concat([utf8(`${lines.join("\r\n")}\r\n\r\n`), value])
}

const plain = (draws: Draws): ReadonlyArray<Buffer> => [
  Buffer.concat([
    utf8('Content-Disposition: form-data; name="file"; filename="a.zip"\r\nContent-Type: application/zip\r\n\r\n'),
    draws.one(files)
  ]),
  Buffer.from(`Content-Disposition: form-data; name="hash"\r\n\r\n${hash}`)
]

const formOf = (draws: Draws): Uint8Array => {
  const boundary = draws.one(boundaries)
  const parts = draws.chance(0.4) ? plain(draws) : draws.some(() => partOf(draws), 4)
  const body = parts.map((part) => Buffer.concat([utf8(`--${boundary}\r\n`), part, utf8("\r\n")]))
  const end = draws.chance(0.9) ? `--${boundary}--\r\n` : draws.one(["", `--${boundary}`, `--${boundary}--`, "--"])
  return Buffer.concat([utf8(`${boundary}\n`), ...body, utf8(end)])
}

const read = (boundary: string, body: Buffer, piece: number): Promise<Result.Result<UploadForm, string>> => {
  const pieces = Array.from({ length: Math.ceil(body.length / piece) }, (_, n) =>
    body.subarray(n * piece, (n + 1) * piece)
  )
  const parts = Stream.fromIterable<Uint8Array>(pieces).pipe(
    Stream.pipeThroughChannel(Multipart.makeChannel({ "content-type": `multipart/form-data; boundary="${boundary}"` }))
  )
  const archive = new BufferedBody(new BodyMemoryBudget(archiveBytes, archiveBytes))
  const form = readUploadForm(parts, archiveBytes, archive)
  return Effect.runPromise(Effect.result(Effect.mapError(form, ({ reason }) => reason)))
}

/** Finds the two parts of a simple form without the parser. Returns null for other forms. */
const byHand = (boundary: string, body: Buffer): Buffer | null => {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\nContent-Type: application/zip\r\n\r\n`
  const tail = `\r\n--${boundary}\r\nContent-Disposition: form-data; name="hash"\r\n\r\n${hash}\r\n--${boundary}--\r\n`
  const zip = body.subarray(head.length, body.length - tail.length)
  const isPlain = body.toString("latin1") === `${head}${zip.toString("latin1")}${tail}`
  return isPlain && zip.length <= archiveBytes && !zip.includes(`--${boundary}`) ? zip : null
}

/** Bytes after the end of a form may fail the parser, if they arrive in a separate chunk. Real clients send none. */
const withoutEpilogue = (boundary: string, body: Buffer): Buffer => {
  const delimiter = `--${boundary}--`
  const end = body.indexOf(delimiter)
  return end === -1 ? body : Buffer.concat([body.subarray(0, end), utf8(`${delimiter}\r\n`)])
}

/**
 * True if a line break or the end follows each boundary. The parser skips any two bytes there if they arrive
 * together. Real clients send no others.
 */
const endsLines = (boundary: string, body: Buffer): boolean =>
  body
    .toString("latin1")
    .split(`--${boundary}`)
    .slice(1)
    .every((rest) => /^(\r\n|--)/.test(rest))

export const forms: Target = {
  name: "forms",
  generate: formOf,
  words: [
    "--",
    "\r\n",
    "--b\r\n",
    "--b--\r\n",
    'name="file"; filename="x"',
    'name="hash"',
    "Content-Disposition: form-data; ",
    "\r\n\r\n",
    '"',
    ";",
    "\u0000"
  ],
  covers: /effect\/(src|dist)\/.*[Mm]ultipart/,
  bytesMax: 16 * 1024,
  run: async (input) => {
    const bytes = Buffer.from(input)
    const end = bytes.indexOf(10)
    const boundary = bytes.toString("latin1", 0, Math.max(0, end))
    if (!/^[0-9a-zA-Z'()+_,\-./:=?]{1,70}$/.test(boundary)) return "refused"
    const body = withoutEpilogue(boundary, bytes.subarray(end + 1))
    const whole = await read(boundary, body, Math.max(1, body.length))
    const isLined = endsLines(boundary, body)
    for (const piece of [1, 5, 61]) {
      const cut = await read(boundary, body, piece)
      if (!isLined) continue
      // The reported one of several errors may depend on the chunks. The parsed fields may not.
      assert.strictEqual(cut._tag, whole._tag, `cut into ${piece}: ${JSON.stringify([whole, cut]).slice(0, 300)}`)
      if (Result.isSuccess(cut) && Result.isSuccess(whole)) assert.deepStrictEqual(cut.success, whole.success)
    }
    const zip = byHand(boundary, body)
    if (zip !== null) assert.isTrue(Result.isSuccess(whole) && zip.equals(whole.success.zip), "the bytes are others")
    if (Result.isSuccess(whole)) assert.isAtMost(whole.success.zip.length, archiveBytes)
    else assert.isNotEmpty(whole.failure)
    return Result.isSuccess(whole) ? "taken" : "refused"
  }
}
