/** Limits of size, time and number that protect the host from remote servers. */
import type { ServerResponse } from "node:http"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Egress } from "@weft/core/adapter"
import { egress } from "@weft/egress"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { ask, envOf, plain, refusal, serve } from "./Servers.ts"

const MiB = 1024 * 1024
const allow = ["127.0.0.1"]
const loopback = egress({ policy: { allow } })
const tooLarge = ["EgressFailed", `the body of the response is over ${20 * MiB} bytes`]

describe("the size of a response", () => {
  it.live("is at most 20 MiB, even if the response declares another size", () =>
    Effect.gen(function* () {
      let written = 0
      const server = yield* serve((request, response) => {
        const bytes = request.url === "/fits" ? 20 * MiB : 64 * MiB
        if (request.url === "/announced") response.setHeader("content-length", bytes)
        written = 0
        void writeAll(response, bytes, (count) => {
          written += count
        })
      })
      assert.strictEqual((yield* ask(`${server.url}/fits`)).body.length, 20 * MiB)
      for (const path of ["/announced", "/chunked"]) {
        assert.deepStrictEqual(yield* refusal(server.url + path), tooLarge)
        // The sender was stopped before the end.
        assert.isBelow(written, 64 * MiB)
      }
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("is limited after decompression", () =>
    Effect.gen(function* () {
      const zeros = Buffer.alloc(64 * MiB)
      const bombs: Readonly<Record<string, Buffer>> = {
        gzip: gzipSync(zeros),
        br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
        deflate: deflateSync(zeros),
        zstd: zstdCompressSync(zeros),
        "gzip, gzip": gzipSync(gzipSync(zeros))
      }
      const server = yield* serve((request, response) => {
        const coding = decodeURIComponent(request.url?.slice(1) ?? "")
        response.writeHead(200, { "content-encoding": coding }).end(bombs[coding])
      })
      for (const [coding, bomb] of Object.entries(bombs)) {
        assert.isBelow(bomb.length, MiB)
        assert.deepStrictEqual(yield* refusal(`${server.url}/${encodeURIComponent(coding)}`), tooLarge, coding)
      }
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("is limited between two codings, even if the second one has no output", () =>
    Effect.gen(function* () {
      // An endless file name inside the first coding.
      const head = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3])
      const bomb = gzipSync(Buffer.concat([head, Buffer.alloc(64 * MiB, "a")]))
      const server = yield* serve((_, response) => {
        response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(bomb)
      })
      assert.deepStrictEqual(yield* refusal(server.url), tooLarge)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("allows a zstd window of at most 8 MiB", () =>
    Effect.gen(function* () {
      const folded = (windowLog: number) =>
        zstdCompressSync(Buffer.alloc(16 * MiB, "text"), { params: { [constants.ZSTD_c_windowLog]: windowLog } })
      const server = yield* serve((request, response) => {
        response.writeHead(200, { "content-encoding": "zstd" }).end(folded(request.url === "/wide" ? 24 : 23))
      })
      assert.strictEqual((yield* ask(`${server.url}/usual`)).body.length, 16 * MiB)
      assert.deepStrictEqual(yield* refusal(`${server.url}/wide`), [
        "EgressFailed",
        "the body of the response cannot be decompressed"
      ])
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("is the decompressed size for valid content, without headers of the coding", () =>
    Effect.gen(function* () {
      const text = "compressed ".repeat(1000)
      const codings: Readonly<Record<string, (text: string) => Buffer>> = {
        gzip: (each) => gzipSync(each),
        "x-gzip": (each) => gzipSync(each),
        br: (each) => brotliCompressSync(each),
        deflate: (each) => deflateSync(each),
        zstd: (each) => zstdCompressSync(each),
        "gzip, br": (each) => brotliCompressSync(gzipSync(each)),
        identity: (each) => Buffer.from(each),
        unheard: (each) => Buffer.from(each)
      }
      const server = yield* serve((request, response) => {
        const coding = decodeURIComponent(request.url?.slice(1) ?? "")
        response.writeHead(200, { "content-encoding": coding, etag: "x" }).end(codings[coding]?.(text))
      })
      for (const coding of Object.keys(codings)) {
        const { headers, body } = yield* ask(`${server.url}/${encodeURIComponent(coding)}`)
        assert.strictEqual(body, text, coding)
        const names = headers.map(([name]) => name)
        assert.include(names, "etag")
        assert.strictEqual(names.includes("content-encoding"), coding === "identity" || coding === "unheard", coding)
      }
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("is irrelevant for invalid or too many codings", () =>
    Effect.gen(function* () {
      const server = yield* serve((request, response) => {
        const folds = request.url === "/often" ? "gzip, gzip, gzip" : "gzip"
        const body = request.url === "/cut" ? gzipSync("x".repeat(100_000)).subarray(0, 60) : Buffer.from("not gzip")
        response.writeHead(200, { "content-encoding": folds }).end(request.url === "/empty" ? undefined : body)
      })
      const broken = ["EgressFailed", "the body of the response cannot be decompressed"]
      assert.deepStrictEqual(yield* refusal(`${server.url}/broken`), broken)
      assert.deepStrictEqual(yield* refusal(`${server.url}/cut`), broken)
      assert.deepStrictEqual(yield* refusal(`${server.url}/often`), [
        "EgressFailed",
        "the response is compressed more than twice"
      ])
      assert.strictEqual((yield* ask(`${server.url}/empty`)).body, "")
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

describe("the time of a request", () => {
  const late = ["EgressFailed", "the request took longer than 30000 ms"]

  it.effect("ends after 30 seconds without a response, and closes the connection", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const server = yield* serve(() => Deferred.doneUnsafe(asked, Exit.void))
      const request = yield* Effect.forkChild(refusal(server.url))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("29 seconds")
      assert.isUndefined(request.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(yield* Fiber.join(request), late)
      yield* Effect.promise(server.quiet)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.effect("includes a body that arrives slowly but steadily", () =>
    Effect.gen(function* () {
      const dripped = yield* Deferred.make<void>()
      let drops = 0
      const server = yield* serve((_, response) => {
        const timer = setInterval(() => {
          response.write("x")
          if (++drops === 5) Deferred.doneUnsafe(dripped, Exit.void)
        }, 5)
        response.on("close", () => clearInterval(timer))
      })
      const request = yield* Effect.forkChild(refusal(server.url))
      yield* Deferred.await(dripped)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* Fiber.join(request), late)
      yield* Effect.promise(server.quiet)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.effect("includes the wait for other requests", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const server = yield* serve(() => Deferred.doneUnsafe(asked, Exit.void))
      const first = yield* Effect.forkChild(refusal(server.url))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("10 seconds")
      const second = yield* Effect.forkChild(Effect.flip(ask(server.url)))
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* Fiber.join(first), late)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(second)).message, late[1])
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow, concurrentPerEnv: 1 } })))
  )
})

describe("requests in progress", () => {
  it.live("are limited per environment; other environments do not wait for them", () =>
    Effect.gen(function* () {
      const waiting: Array<ServerResponse> = []
      let seen: (() => void) | undefined
      const server = yield* serve((_, response) => {
        waiting.push(response)
        seen?.()
      })
      const arrived = (count: number) =>
        Effect.promise(async () => {
          while (waiting.length < count) await new Promise<void>((resolve) => (seen = resolve))
        })
      const many = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4, 5], () => ask(server.url), { concurrency: "unbounded" })
      )
      yield* arrived(2)
      const other = yield* Effect.forkChild(ask(server.url, {}, envOf(2)))
      yield* arrived(3)
      yield* Effect.sleep(50)
      assert.strictEqual(waiting.length, 3)
      for (let answered = 0; answered < 6; answered++) {
        yield* arrived(answered + 1)
        waiting[answered]?.end("done")
      }
      assert.deepStrictEqual(
        (yield* Fiber.join(many)).map(({ body }) => body),
        new Array(5).fill("done")
      )
      assert.strictEqual((yield* Fiber.join(other)).body, "done")
    }).pipe(Effect.scoped, Effect.provide(egress({ policy: { allow, concurrentPerEnv: 2 } })))
  )

  it.live("end with the waiting fiber, and with the scope of an unread response", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const server = yield* serve((request, response) => {
        if (request.url === "/hangs") Deferred.doneUnsafe(asked, Exit.void)
        else void writeAll(response, 64 * MiB, () => undefined)
      })
      const hanging = yield* Effect.forkChild(ask(`${server.url}/hangs`))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(hanging)
      yield* Effect.promise(server.quiet)

      const scope = yield* Scope.make()
      const egress = yield* Egress
      const response = yield* Effect.provideService(egress.send(envOf(1), plain(server.url)), Scope.Scope, scope)
      yield* Stream.runHead(response.body)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(server.quiet)
      assert.strictEqual(server.accepted(), 2)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )

  it.live("apply back-pressure to the sender of an unread response", () =>
    Effect.gen(function* () {
      let written = 0
      const server = yield* serve((_, response) => {
        void writeAll(response, 16 * MiB, (count) => {
          written += count
        })
      })
      const egress = yield* Egress
      const response = yield* egress.send(envOf(1), plain(server.url))
      yield* Effect.sleep(200)
      const ahead = written
      yield* Effect.sleep(200)
      assert.strictEqual(written, ahead)
      assert.isBelow(ahead, 16 * MiB)
      const bytes = yield* Stream.runFold(
        response.body,
        () => 0,
        (count, chunk) => count + chunk.length
      )
      assert.strictEqual(bytes, 16 * MiB)
    }).pipe(Effect.scoped, Effect.provide(loopback))
  )
})

/** Writes with back-pressure until everything is written or the connection closes. */
const writeAll = async (response: ServerResponse, bytes: number, onWritten: (bytes: number) => void): Promise<void> => {
  const chunk = Buffer.alloc(64 * 1024)
  for (let sent = 0; sent < bytes && !response.destroyed; sent += chunk.length) {
    onWritten(chunk.length)
    if (!response.write(chunk)) await drained(response)
  }
  response.end()
}

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go)
      resolve()
    }
    response.once("drain", go).once("close", go)
  })
