/** Streams, compression, files, timers. Each function runs in Node and in the sandbox, with the same result. */
import fs from "node:fs"
import { mkdtemp, readFile, writeFile } from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import { Duplex, PassThrough, Readable, Transform, Writable } from "node:stream"
import { buffer, json, text } from "node:stream/consumers"
import { pipeline } from "node:stream/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import zlib from "node:zlib"

const upper = () => new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) })

export const pipelines = async () => {
  const lines: Array<string> = []
  const sink = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk))
      done()
    }
  })
  await pipeline(Readable.from(["a", "b"]), upper(), sink)
  const failed = await pipeline(
    Readable.from(["a"]),
    new Transform({ transform: (_chunk, _encoding, done) => done(new Error("broken")) }),
    new PassThrough()
  ).catch(({ message }: Error) => message)
  return [
    lines,
    failed,
    await json(Readable.from(['{"a":', "1}"])),
    await text(Readable.from(["x", "y"]).pipe(upper()))
  ]
}

export const operators = async () => [
  await Readable.from([1, 2, 3])
    .filter((value: number) => value > 1)
    .map((value: number) => value * 2)
    .toArray(),
  await text(
    Readable.fromWeb(
      new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode("web"))
          controller.close()
        }
      })
    )
  ),
  await new Response(Readable.toWeb(Readable.from([Buffer.from("node")])) as ReadableStream<Uint8Array>).text()
]

export const duplexes = async () => {
  const echo = new Duplex({
    read: () => undefined,
    write(chunk, _, done) {
      this.push(chunk)
      done()
    },
    final(done) {
      this.push(null)
      done()
    }
  })
  echo.end("hello")
  return text(echo)
}

const sample = Buffer.from("hello hello hello ".repeat(200))

export const compression = async () => {
  const gunzip = promisify<Buffer, Buffer>(zlib.gunzip)
  const streamed = await buffer(Readable.from([sample]).pipe(zlib.createGzip()).pipe(zlib.createGunzip()))
  const broken = await gunzip(Buffer.from("no gzip")).then(
    () => "accepted",
    () => "refused"
  )
  return [
    zlib.gunzipSync(zlib.gzipSync(sample)).equals(sample),
    zlib.inflateSync(zlib.deflateSync(sample)).equals(sample),
    zlib.inflateRawSync(zlib.deflateRawSync(sample, { level: 9 })).equals(sample),
    zlib.unzipSync(zlib.deflateSync(sample)).equals(sample),
    streamed.equals(sample),
    zlib.crc32("hello"),
    broken
  ]
}

const codeOf = (body: () => unknown): unknown => {
  try {
    return body()
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : String(error)
  }
}

export const files = async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "weft-"))
  const file = path.join(folder, "a.txt")
  await writeFile(file, "one")
  fs.appendFileSync(file, " two")
  fs.mkdirSync(path.join(folder, "b/c"), { recursive: true })
  fs.writeFileSync(path.join(folder, "b/c/d.json"), '{"a":1}')
  const descriptor = fs.openSync(file, "r+")
  fs.writeSync(descriptor, "ONE", 0)
  fs.closeSync(descriptor)
  await pipeline(fs.createReadStream(file, { start: 4 }), upper(), fs.createWriteStream(path.join(folder, "e.txt")))
  fs.copyFileSync(file, path.join(folder, "f.txt"))
  fs.renameSync(path.join(folder, "b"), path.join(folder, "g"))
  const result = [
    await readFile(file, "utf8"),
    fs.readFileSync(path.join(folder, "e.txt"), "utf8"),
    fs.readdirSync(folder),
    fs.readdirSync(path.join(folder, "g"), { withFileTypes: true }).map((entry) => [entry.name, entry.isDirectory()]),
    fs.statSync(file).size,
    fs.existsSync(path.join(folder, "none")),
    codeOf(() => fs.readFileSync(path.join(folder, "none"))),
    codeOf(() => fs.mkdirSync(folder)),
    codeOf(() => fs.rmdirSync(folder)),
    codeOf(() => fs.readFileSync(folder))
  ]
  fs.rmSync(folder, { recursive: true })
  return [...result, fs.existsSync(folder)]
}

export const timers = async () => {
  const order: Array<string> = []
  setImmediate(() => order.push("immediate"))
  process.nextTick(() => order.push("tick"))
  order.push("now")
  return [await sleep(20, "slept"), await promisify(setTimeout)(1, "promised"), order]
}
