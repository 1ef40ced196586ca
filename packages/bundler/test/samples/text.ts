/** Text, paths, URLs, events, comparison. Each function runs in Node and in the sandbox, with the same result. */
import assert from "node:assert"
import { Buffer } from "node:buffer"
import { EventEmitter, errorMonitor, on, once } from "node:events"
import path from "node:path"
import querystring from "node:querystring"
import { StringDecoder } from "node:string_decoder"
import url from "node:url"
import util from "node:util"

export const buffers = () => [
  Buffer.from("grüße").toString("base64url"),
  Buffer.from("Z3LDvMOfZQ", "base64url").toString(),
  Buffer.concat([Buffer.from("a"), Buffer.from([98, 99])]).toString("hex"),
  Buffer.alloc(4, "ab").toString("latin1"),
  Buffer.from("abc").subarray(1).equals(Buffer.from("bc")),
  Buffer.byteLength("é", "utf8"),
  Buffer.isEncoding("base64url"),
  Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]).readBigUInt64BE().toString(),
  JSON.stringify(Buffer.from("a")),
  Buffer.from("abcabc").indexOf("c", 3),
  Buffer.compare(Buffer.from("a"), Buffer.from("b"))
]

export const paths = () => [
  path.join("/a", "../b", "c.txt"),
  path.resolve("/a", "b"),
  path.relative("/a/b", "/a/c/d"),
  path.parse("/a/b.tar.gz"),
  path.posix.normalize("/a//b/../c/"),
  path.extname("a.b.c"),
  path.isAbsolute("a")
]

export const urls = () => {
  const { host, query, pathname } = url.parse("https://user@a.example:8080/p?a=1&b=2#h", true)
  return [
    host,
    { ...query },
    pathname,
    url.resolve("https://a.example/b/c", "../d"),
    url.format({ protocol: "https", host: "a.example", pathname: "/x", query: { a: "1" } }),
    url.fileURLToPath("file:///a%20b"),
    querystring.stringify({ a: ["1", "2"], b: "ü" }),
    { ...querystring.parse("a=1&a=2&b=%20") }
  ]
}

export const decoding = () => {
  const decoder = new StringDecoder("utf8")
  return [decoder.write(Buffer.from([0xe2, 0x82])), decoder.write(Buffer.from([0xac])), decoder.end()]
}

export const formatting = () => [
  util.format("%s is %d, %j %o", "a", 1, { b: 2 }, [3]),
  util.inspect({ a: new Map([["k", [1, 2]]]), b: new Set([1]), c: null, d: () => 1, e: Symbol("s") }),
  util.inspect({ deep: { deep: { deep: { deep: 1 } } } }),
  util.isDeepStrictEqual({ a: [1, new Date(0)] }, { a: [1, new Date(0)] }),
  util.isDeepStrictEqual(new Set([1]), new Set([2])),
  util.types.isUint8Array(Buffer.alloc(1)),
  util.types.isPromise(Promise.resolve()),
  util.types.isTypedArray(new DataView(new ArrayBuffer(1))),
  util.stripVTControlCharacters("\u001b[31mred\u001b[0m")
]

export const promisified = async () => {
  const plain = util.promisify((value: number, done: (error: Error | null, result: number) => void) =>
    done(null, value + 1)
  )
  const failing = util.promisify((done: (error: Error) => void) => done(new Error("no")))
  const called = await new Promise((resolve) => util.callbackify(async () => 7)((_, value) => resolve(value)))
  return [await plain(1), await failing().catch(({ message }: Error) => message), called]
}

function Old(this: EventEmitter): void {
  EventEmitter.call(this)
}
util.inherits(Old, EventEmitter)

export const events = async () => {
  const seen: Array<unknown> = []
  const old: unknown = Reflect.construct(Old, [])
  if (!(old instanceof EventEmitter)) return "not an emitter"
  old.once("a", (value) => seen.push(value))
  seen.push(old.emit("a", 1), old.emit("a", 2), old.listenerCount("a"))
  const emitter = new EventEmitter()
  queueMicrotask(() => emitter.emit("b", 3))
  seen.push(await once(emitter, "b"))
  queueMicrotask(() => {
    emitter.emit("c", 4)
    emitter.emit("c", 5)
  })
  for await (const [value] of on(emitter, "c")) {
    seen.push(value)
    if (value === 5) break
  }
  emitter.on(errorMonitor, ({ message }: Error) => seen.push(message))
  emitter.on("error", () => seen.push("handled"))
  emitter.emit("error", new Error("watched"))
  return seen
}

const thrownBy = (body: () => void): unknown => {
  try {
    body()
    return null
  } catch (error) {
    return error instanceof assert.AssertionError ? [error.code, error.operator] : String(error)
  }
}

export const assertions = async () => [
  thrownBy(() => assert.strictEqual(1, 2)),
  thrownBy(() => assert.deepStrictEqual({ a: [1] }, { a: [1] })),
  thrownBy(() => assert.deepEqual({ a: 1 }, { a: "1" })),
  thrownBy(() => assert.deepStrictEqual({ a: 1 }, { a: "1" })),
  thrownBy(() => assert.throws(() => JSON.parse("{"), SyntaxError)),
  thrownBy(() => assert.match("abc", /b/)),
  thrownBy(() => assert.ok(true)),
  await assert.rejects(Promise.reject(new Error("no")), /no/).then(() => "rejected")
]
